"""Keeps the recorder's facts about each tensor storage: its origin, its content, and its buffer in
the plan.

A storage is *host-known* if each of its bytes is known without running a kernel. Such a storage was
created as zeros, from a literal, or by arithmetic on host-known storages. The known content is kept
in addition to the fake tensor, as a real CPU tensor or as one repeated element, so that `.item()`,
`.tolist()` and `torch.cumsum` work. The content becomes part of the plan only when a kernel or a
copy needs it. Each recorder has its own Storages object. Not thread-safe."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from harness.entry.errors import NotRecordable

# The first fake address. It is below 2^47, and far from every address that Linux maps, so host code
# that reads or writes memory at a fake address always ends by SIGSEGV.
ADDRESS_BASE = 0x2000_0000_0000
# The alignment that CUDA's allocator guarantees. Triton specialises kernels for aligned addresses,
# so fake addresses must have the alignment of real ones.
ADDRESS_ALIGNMENT = 512
MAX_KNOWN_BYTES = 32 << 20
# The maximum size in bytes to which a repeated element is expanded for a computation on the host.
# Operations on a larger storage are work for the device.
MAX_EXPANDED_BYTES = 1 << 20


@dataclass(frozen=True)
class Uniform:
    """A content in which all elements are equal."""

    width: int
    pattern: int

    def bytes(self, nbytes: int) -> torch.Tensor:
        with _disable_current_modes():
            element = torch.tensor(
                list(self.pattern.to_bytes(self.width, "little")), dtype=torch.uint8
            )
            return element.repeat(nbytes // self.width)

    def converted(self, source: torch.dtype, target: torch.dtype) -> Uniform:
        """Returns the content after a conversion of its elements from dtype `source` to dtype
        `target`."""
        if source == target:
            return self
        with _disable_current_modes():
            return uniform(target, self.bytes(self.width).view(source).to(target).item())


@dataclass
class Record:
    """The facts about one storage. `content` is None if only the device knows the content."""

    storage: Any  # the fake tensor's storage; while it is referenced, no other has its id
    nbytes: int
    address: int
    device: str
    content: Uniform | torch.Tensor | None  # a tensor is flat, uint8, and of exactly nbytes
    argument: str = ""  # the argument's name, if the storage is an input of the case
    index: int | None = None  # the buffer in the current plan
    written: bool = False  # the device may have changed the storage during this case
    stale: bool = False  # an earlier case had it as an argument, or changed it on the device

    @property
    def host_known(self) -> bool:
        """Returns True if operations on this storage are arithmetic on known values. Otherwise they
        are work for the plan."""
        return self.content is not None and not self.argument and self.index is None

    @property
    def computable(self) -> bool:
        """Returns True if the host knows the values and can compute with them at an acceptable
        cost."""
        if self.content is None or self.stale:
            return False
        return not isinstance(self.content, Uniform) or self.nbytes <= MAX_EXPANDED_BYTES

    def known_bytes(self) -> torch.Tensor:
        """Returns the content as a flat uint8 tensor. If the content is one repeated element, the
        first call expands it."""
        if isinstance(self.content, Uniform):
            if self.nbytes > MAX_KNOWN_BYTES:
                raise NotRecordable(
                    f"host arithmetic on {self.nbytes} bytes of values is over the limit of {MAX_KNOWN_BYTES}"
                )
            self.content = self.content.bytes(self.nbytes)
        if self.content is None:
            raise NotRecordable("the values of this tensor exist only on the device")
        return self.content


def uniform(dtype: torch.dtype, value: Any) -> Uniform:
    """Returns the content that `torch.full(..., value, dtype=dtype)` creates."""
    with _disable_current_modes():
        element = torch.tensor([value]).to(dtype).view(torch.uint8)
        return Uniform(dtype.itemsize, int.from_bytes(bytes(element.tolist()), "little"))


def same_element(content: torch.Tensor) -> Uniform | None:
    """Returns a Uniform that is equal to the content, or None if the elements differ."""
    with _disable_current_modes():
        for width, word in ((1, torch.uint8), (2, torch.int16), (4, torch.int32), (8, torch.int64)):
            if content.numel() % width == 0:
                words = content.view(word)
                if bool((words == words[0]).all()):
                    return Uniform(width, int(words[0]) & ((1 << (8 * width)) - 1))
    return None


class Storages:
    """All storages of a recorder. They can be found by their identity and by their fake address."""

    def __init__(self) -> None:
        self._records: dict[int, Record] = {}
        self._bases: list[int] = []
        self._by_base: list[Record] = []
        self._next = ADDRESS_BASE

    def add(
        self, tensor: torch.Tensor, content: Uniform | torch.Tensor | None, argument: str = ""
    ) -> Record:
        storage = tensor.untyped_storage()
        nbytes = int(storage.nbytes())
        record = Record(
            storage, nbytes, self._next if nbytes else 0, tensor.device.type, content, argument
        )
        self._records[storage._cdata] = record
        if nbytes:
            self._bases.append(self._next)
            self._by_base.append(record)
            self._next += (
                nbytes + ADDRESS_ALIGNMENT
            ) // ADDRESS_ALIGNMENT * ADDRESS_ALIGNMENT + ADDRESS_ALIGNMENT
        return record

    def find(self, tensor: torch.Tensor) -> Record | None:
        return self._records.get(tensor.untyped_storage()._cdata)

    def at(self, address: int) -> Record | None:
        """Returns the storage that contains this address or whose end has this address."""
        place = bisect.bisect_right(self._bases, address) - 1
        if place < 0 or address > self._bases[place] + self._by_base[place].nbytes:
            return None
        return self._by_base[place]

    def is_address(self, value: int) -> bool:
        """Returns True if this number is one of the recorder's fake addresses."""
        return ADDRESS_BASE <= value < self._next and self.at(value) is not None

    def holds_address(self, content: Uniform | torch.Tensor) -> bool:
        """Returns True if a 64-bit word of the known content is one of the recorder's fake
        addresses."""
        if isinstance(content, Uniform):
            return content.width == 8 and self.is_address(content.pattern)
        with _disable_current_modes():
            words = content[: content.numel() // 8 * 8].view(torch.int64)
            found = words[(words >= ADDRESS_BASE) & (words < self._next)].unique()
            return any(self.at(value) is not None for value in found.tolist())

    def begin_case(self) -> None:
        """Starts a new plan. No storage has a buffer in the new plan. If a storage was an argument
        of an earlier case, or if the device wrote to it during an earlier case, its content is
        unknown now."""
        for record in self._by_base:
            record.stale = record.stale or record.written or bool(record.argument)
            record.index, record.written = None, False
