"""Where the contents of memory come from (origins.py). The higher origin is passed on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from torch.multiprocessing.reductions import StorageWeakRef


class Origin(IntEnum):
    HOST = 0  # numbers of the host, and random numbers
    DATA = 1  # an input, or what kernels have made of data
    TORCH = 2  # what torch has computed from data, or something that nobody has seen


@dataclass
class Known:
    """What is known about a storage."""

    storage: StorageWeakRef
    origin: Origin
    by_kernel: bool = False
    mark: int | None = None  # the digest of the contents; None if it is not known
