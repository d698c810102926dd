"""The interface between Triton's side and the recorder: launches, their kernels, and pieces of work
that can be done in several ways.

    class MySink: ...  # a Sink, such as the recorder
    sink.launch(Launch(KernelImage(...), grid, block, cluster, flags, params))

This module does not depend on Triton; triton_adapter makes its objects. They are values and may be
shared."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Protocol

from harness.recording.plan import GlobalScratch, Null, Scalar


@dataclass(frozen=True)
class Address:
    """A pointer argument as the host code passed it. The recorder resolves it to a buffer."""

    value: int
    position: int  # the argument's position, for messages


@dataclass(frozen=True)
class Descriptor:
    """A host TMA descriptor for the launcher to encode. Dimensions are innermost first."""

    base: Address
    type: int
    swizzle: int
    nan_outside: bool
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes, for every dimension but the innermost
    box: tuple[int, ...]


RawParam = Scalar | Address | Null | GlobalScratch | Descriptor


@dataclass(frozen=True)
class KernelImage:
    """A compiled kernel, with the properties that a plan and a report need."""

    name: str
    image: bytes
    shared_bytes: int
    num_warps: int
    num_stages: int
    # Triton's cache: maps file names to paths
    files: dict[str, str] = field(hash=False, compare=False)

    def text(self, extension: str) -> str:
        """Returns an intermediate form ("ptx", "amdgcn"), or "" if Triton kept none."""
        for name, path in self.files.items():
            if name.endswith("." + extension):
                with open(path, encoding="utf-8", errors="replace") as stream:
                    return stream.read()
        return ""


@dataclass
class Launch:
    kernel: KernelImage
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    flags: int
    params: list[RawParam]


class Sink(Protocol):
    """Receives what Triton is requested to do."""

    def launch(self, launch: Launch) -> None: ...
    def note(self, text: str) -> None: ...
    def choosing(self, owner: int, key: object) -> contextlib.AbstractContextManager[Choosing]: ...
    def settle(self, owner: int) -> None: ...


class Choosing(Protocol):
    """The launches inside one `alternative` are one way to do a piece of work. An alternative that
    raises an exception is dropped."""

    @property
    def count(self) -> int:
        """Returns the number of alternatives so far."""

    @property
    def has_room(self) -> bool: ...
    def alternative(self, label: str) -> contextlib.AbstractContextManager[None]: ...
