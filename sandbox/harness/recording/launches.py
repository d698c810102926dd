"""Defines the interface between the Triton adapter and the recorder: launches, their kernels, and
pieces of work that have several alternatives.

    class MySink: ...  # a Sink, such as the recorder
    sink.launch(Launch(KernelImage(...), grid, block, cluster, flags, params))

This module does not depend on Triton. triton_adapter creates the objects. An object never changes
after its creation, so several launches may share it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Protocol

from harness.recording.plan import GlobalScratch, Null, Scalar


@dataclass(frozen=True)
class Address:
    """A pointer argument as the host code passed it. The recorder finds the buffer that contains
    the address."""

    value: int
    position: int  # the argument's position, for error messages


@dataclass(frozen=True)
class Descriptor:
    """A TMA descriptor that host code created. The launcher encodes it. The lists begin with the
    innermost dimension."""

    base: Address
    type: int
    swizzle: int
    nan_outside: bool
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in bytes, for all dimensions but the innermost
    box: tuple[int, ...]


RawParam = Scalar | Address | Null | GlobalScratch | Descriptor


@dataclass(frozen=True)
class KernelImage:
    """A compiled kernel, with the properties that plans and reports need."""

    name: str
    image: bytes
    shared_bytes: int
    num_warps: int
    num_stages: int
    # The kernel's files in Triton's cache: maps file names to paths.
    files: dict[str, str] = field(hash=False, compare=False)

    def text(self, extension: str) -> str:
        """Returns the kernel in an intermediate form ("ptx", "amdgcn"). Returns "" if Triton did
        not keep that form."""
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
    """Receives the launches that host code requests from Triton."""

    def launch(self, launch: Launch) -> None: ...
    def note(self, text: str) -> None: ...
    def leave_out(self, alternatives: int) -> None: ...  # they may compile at another time
    def choosing(self, owner: int, key: object) -> contextlib.AbstractContextManager[Choosing]: ...
    def settle(self, owner: int) -> None: ...


class Choosing(Protocol):
    """Records the alternatives of one piece of work. The launches inside one `alternative` are one
    way to do the work. An alternative that raises an exception is dropped."""

    @property
    def count(self) -> int:
        """Returns the number of alternatives recorded so far."""

    @property
    def has_room(self) -> bool: ...
    def alternative(self, label: str) -> contextlib.AbstractContextManager[None]: ...
