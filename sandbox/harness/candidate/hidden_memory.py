"""Hides memory from a kernel that was not given it.

    hidden = HiddenMemory(storages)
    launcher(*arguments)
    hidden.show()

    freed = FreedMemory()
    freed.hold(storage)   # keeps it until nothing else does
    freed.clear()         # call this often

A kernel can make an address of anything, for example of two halves or of a constant in its code,
and nothing in its arguments shows this. So memory that the kernel must not read contains the poison
(poison.py) while the kernel runs. Memory that torch has freed keeps its contents until torch gives
it out again, so such memory is filled with the poison too."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from harness.candidate.storages import bytes_of, is_captured, settle
from harness.wire.poison import fill_poison

_references_to = torch._C._storage_Use_Count  # type: ignore[attr-defined]


def can_be_hidden(storage: torch.UntypedStorage) -> bool:
    """Returns False for memory that torch did not allocate, which may not be writable, and while a
    graph is captured: then nothing may wait for the GPU."""
    return storage.nbytes() > 0 and storage.resizable() and not is_captured(storage)


class HiddenMemory:
    """Storages that contain the poison until show(). Use it without modes of torch."""

    def __init__(self, storages: Iterable[torch.UntypedStorage]) -> None:
        chosen = [one for one in storages if can_be_hidden(one)]
        settle(*chosen)
        self._before = [(one, one.clone()) for one in chosen]
        for one in chosen:
            fill_poison(bytes_of(one))

    def show(self) -> None:
        settle(*(one for one, _ in self._before))
        for one, contents in self._before:
            bytes_of(one).copy_(bytes_of(contents))


class FreedMemory:
    """Storages that are filled with the poison when no tensor refers to them any more. Several
    threads may use it."""

    def __init__(self) -> None:
        # The keys are the identities of the storages.
        self._held: dict[int, torch.UntypedStorage] = {}

    def hold(self, storage: torch.UntypedStorage) -> None:
        if can_be_hidden(storage):
            self._held[storage._cdata] = storage

    def clear(self) -> None:
        """Fills and frees the storages to which no tensor refers. Use it without modes of torch."""
        for at, storage in list(self._held.items()):
            if _references_to(storage._cdata) > 1 or is_captured(storage):
                continue
            settle(storage)
            fill_poison(bytes_of(storage))
            self._held.pop(at, None)
