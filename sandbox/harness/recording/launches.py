"""What Triton's side hands to the recorder: launches, the kernels in them, and pieces of work that
can be done in several ways.

    class MySink: ...                        # a Sink: the recorder, for one
    sink.launch(Launch(KernelImage(...), grid, block, cluster, flags, params))

Nothing here depends on Triton; triton_adapter fills it in. Values, to be shared freely."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import Protocol

from harness.recording.plan import GlobalScratch, Null, Scalar


@dataclass(frozen=True)
class Address:
    """A pointer argument as the host code passed it; the recorder resolves it to a buffer."""

    value: int
    position: int  # of the argument, for messages


@dataclass(frozen=True)
class Descriptor:
    """A host TMA descriptor that the launcher has to encode. Dimensions innermost first."""

    base: Address
    type: int
    swizzle: int
    nan_outside: bool
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes; of every dimension but the innermost
    box: tuple[int, ...]


RawParam = Scalar | Address | Null | GlobalScratch | Descriptor


@dataclass(frozen=True)
class KernelImage:
    """A compiled kernel: what a plan and a report need to know of it."""

    name: str
    image: bytes
    shared_bytes: int
    num_warps: int
    num_stages: int
    files: dict[str, str] = field(hash=False, compare=False)  # Triton's cache: file name to path

    def text(self, extension: str) -> str:
        """An intermediate form ("ptx", "amdgcn"), or "" if Triton kept none."""
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
    """Who receives what Triton is asked to do."""

    def launch(self, launch: Launch) -> None: ...
    def note(self, text: str) -> None: ...
    def choosing(
        self, owner: int, question: object
    ) -> contextlib.AbstractContextManager[Choosing]: ...
    def settle(self, owner: int) -> None: ...


class Choosing(Protocol):
    """What is launched inside `alternative` is one way of doing a piece of work; one that raises is
    forgotten."""

    @property
    def count(self) -> int:
        """Alternatives so far."""

    @property
    def has_room(self) -> bool: ...
    def alternative(self, label: str) -> contextlib.AbstractContextManager[None]: ...
