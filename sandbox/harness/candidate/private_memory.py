"""Gives a kernel private copies of its memory, so that only the kernel can write to them.

    private = PrivateMemory([(storage, copy, False), ...])  # each storage that a kernel may reach
    private.hide()  # addresses in tables now refer to the copies
    launcher(*private.arguments(arguments))
    private.show()  # addresses refer to the storages again
    ...             # the caller copies the copies back to the storages

Host code of the submission knows the storages, but not the copies. So whatever else writes to the
storages while the kernel runs (a thread, a library, code in an argument's class) changes nothing
that the kernel leaves.

A kernel can also find memory by an address: an integer argument, or an integer in a tensor (a table
of pointers, a descriptor). Such an integer is changed if it lies in one of the storages. Nothing
here waits for the GPU, because a graph may be captured."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Sequence
from typing import Any

import torch

from harness.candidate.storages import PART_ELEMENTS, bytes_of, is_captured, laid_over, storage_of
from harness.triton_adapter.plain_arguments import is_descriptor

# A tensor of bytes contains addresses only if it is small, for example a descriptor.
DESCRIPTOR_BYTES = 1 << 20
ADDRESS_BYTES = 8


class PrivateMemory:
    """See the module's docstring. No two storages overlap."""

    def __init__(
        self, copies: Sequence[tuple[torch.UntypedStorage, torch.UntypedStorage, bool]]
    ) -> None:
        """Each storage comes with its copy, and with whether it may contain addresses."""
        self._copies = {storage._cdata: (storage, made) for storage, made, _ in copies}
        self._tables = [made for _, made, addresses in copies if addresses]

    def arguments(self, value: Any) -> Any:
        """Returns the argument, or tuple or dict of arguments, with the copies in place of the
        storages."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return self._address(int.__add__(value, 0))  # no code of a subclass runs
        if isinstance(value, dict):
            return {name: self.arguments(part) for name, part in value.items()}
        if isinstance(value, tuple | list):
            parts = [self.arguments(part) for part in value]
            named = isinstance(value, tuple) and hasattr(value, "_fields")
            return type(value)(*parts) if named else type(value)(parts)
        if is_descriptor(value):
            changed = copy.copy(value)
            for name in ("base", "shape", "strides"):
                setattr(changed, name, self.arguments(getattr(value, name)))
            return changed
        if isinstance(getattr(value, "base", None), torch.Tensor):
            # A tensor with another type of its elements. If the class does not let its base be
            # changed, the kernel writes to the storage, unseen.
            changed = copy.copy(value)
            with contextlib.suppress(AttributeError):
                changed.base = self._tensor(value.base)
            return changed
        return value

    def hide(self) -> None:
        for table in self._tables:
            self._translate(table, to_copies=True)

    def show(self) -> None:
        for table in self._tables:
            self._translate(table, to_copies=False)

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = storage_of(tensor)
        if storage is None or storage._cdata not in self._copies:
            return tensor
        return laid_over(tensor, self._copies[storage._cdata][1])

    def _address(self, value: int) -> int:
        for storage, made in self._copies.values():
            if 0 <= value - storage.data_ptr() < storage.nbytes():
                return value - storage.data_ptr() + made.data_ptr()
        return value

    def _translate(self, table: torch.UntypedStorage, to_copies: bool) -> None:
        """Changes each 64-bit word that is an address in one of the storages, or in its copy."""
        pairs = [pair if to_copies else pair[::-1] for pair in self._copies.values()]
        pairs = sorted(
            (pair for pair in pairs if pair[0].nbytes()), key=lambda one: one[0].data_ptr()
        )
        if not pairs:
            return
        places = [
            (at.data_ptr(), at.data_ptr() + at.nbytes(), to.data_ptr() - at.data_ptr())
            for at, to in pairs
        ]
        whole = table.nbytes() - table.nbytes() % ADDRESS_BYTES
        parts = bytes_of(table)[:whole].view(torch.int64).split(PART_ELEMENTS)
        if is_captured(table):  # a graph cannot copy from the host's memory
            for words in parts:
                for start, end, step in places:
                    words.add_(((words >= start) & (words < end)).to(torch.int64), alpha=step)
            return
        starts, ends, steps = torch.tensor(places, device=table.device).t().contiguous()
        for words in parts:
            found = (torch.searchsorted(starts, words, right=True) - 1).clamp_min(0)
            inside = (words >= starts[found]) & (words < ends[found])
            words.copy_(torch.where(inside, words + steps[found], words))


def may_hold_addresses(tensor: torch.Tensor) -> bool:
    """Returns True for integers of 64 bits, and for a few bytes. Two neighbours of other integers
    could look like an address by chance."""
    if tensor.dtype in (torch.int64, torch.uint64):
        return True
    return tensor.itemsize == 1 and tensor.untyped_storage().nbytes() <= DESCRIPTOR_BYTES
