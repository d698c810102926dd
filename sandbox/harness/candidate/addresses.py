"""Finds the memory to which addresses in a launch's arguments refer.

    memory = KnownMemory()
    memory.note(*tensors)  # each tensor that torch's modes see
    found, unknown = memory.at(numbers_in(arguments))

`found` are storages that contain one of the addresses. `unknown` says whether an address refers to
memory of this process that is none of these storages, for example memory that torch has made in
another thread. How host code has come to know an address makes no difference."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from harness.candidate.operands import leaves_of
from harness.candidate.private_memory import ADDRESS_BYTES, may_hold_addresses
from harness.candidate.storages import PART_ELEMENTS, bytes_of, is_captured, storage_of

# Smaller integers are sizes much more often than addresses: Linux gives out addresses above it.
LOWEST, HIGHEST = 1 << 32, 1 << 57

Place = tuple[torch.UntypedStorage | None, int]  # with the size of an element


@dataclass
class _Known:
    reference: StorageWeakRef
    item_bytes: int
    table: bool  # it may contain addresses
    exposed: bool = False  # host code has read its address

    def storage(self) -> torch.UntypedStorage:
        return torch.UntypedStorage._new_with_weak_ptr(self.reference.cdata)  # type: ignore[attr-defined, no-any-return]

    def place(self) -> Place:
        return self.storage(), self.item_bytes


class KnownMemory:
    """The storages that torch's modes have seen, and that still live."""

    def __init__(self) -> None:
        # The keys are identities of storages. None is reused while a weak reference exists.
        self._known: dict[int, _Known] = {}

    def note(self, *tensors: torch.Tensor) -> None:
        with torch._C.DisableTorchFunction():
            for tensor in tensors:
                storage = storage_of(tensor)
                if storage is None:
                    continue
                known = self._known.get(storage._cdata)
                if known is None:
                    known = _Known(StorageWeakRef(storage), tensor.itemsize, False)
                    self._known[storage._cdata] = known
                known.item_bytes = max(known.item_bytes, tensor.itemsize)
                known.table = known.table or may_hold_addresses(tensor)

    def expose(self, tensor: torch.Tensor) -> None:
        """Notes that host code has read the tensor's address."""
        self.note(tensor)
        storage = storage_of(tensor)
        if storage is not None:
            self._known[storage._cdata].exposed = True

    def exposed(self) -> list[Place]:
        return [one.place() for one in self._alive() if one.exposed]

    def is_table(self, storage: torch.UntypedStorage) -> bool:
        known = self._known.get(storage._cdata)
        return known is not None and known.table

    def at(
        self, numbers: np.ndarray, first: Iterable[torch.UntypedStorage] = ()
    ) -> tuple[list[Place], bool]:
        """Several storages may share memory. Then the result contains one of them, if possible one of
        `first`."""
        found: list[Place] = []
        rest = np.unique(numbers[(numbers >= LOWEST) & (numbers < HIGHEST)])
        if not rest.size:
            return found, False
        preferred: list[Place] = [(storage, 1) for storage in first]
        for place in itertools.chain(preferred, (one.place() for one in self._alive())):
            storage = place[0]
            if storage is None or not storage.nbytes():
                continue
            start = storage.data_ptr()
            inside = (rest >= start) & (rest < start + storage.nbytes())
            if inside.any():
                found.append(place)
                rest = rest[~inside]
            if not rest.size:
                return found, False
        return found, any(
            bool(((rest >= start) & (rest < end)).any()) for start, end in _own_memory()
        )

    def forget_freed(self) -> None:
        for at, known in list(self._known.items()):
            if known.reference.expired():
                self._known.pop(at, None)

    def _alive(self) -> Iterator[_Known]:
        return (one for one in list(self._known.values()) if not one.reference.expired())


def numbers_in(value: Any) -> np.ndarray:
    """Returns the integers in a launch's arguments that could be addresses."""
    return np.array([one for one in _integers(value) if LOWEST <= one < HIGHEST], dtype=np.int64)


def words_of(storage: torch.UntypedStorage) -> np.ndarray:
    """Returns the words of a table that could be addresses. A graph that is being captured does not
    let anything read the table."""
    none = np.empty(0, dtype=np.int64)
    if is_captured(storage):
        return none
    whole = storage.nbytes() - storage.nbytes() % ADDRESS_BYTES
    parts = bytes_of(storage)[:whole].view(torch.int64).split(PART_ELEMENTS)
    large = [part[(part >= LOWEST) & (part < HIGHEST)].unique().cpu().numpy() for part in parts]
    return np.concatenate([none, *large])


def _integers(value: Any) -> Iterator[int]:
    for leaf in leaves_of(value):
        if isinstance(leaf, int):
            yield int.__add__(leaf, 0)  # no code of a subclass runs
        elif isinstance(leaf, np.integer):
            yield int(leaf)


def _own_memory() -> Iterator[tuple[int, int]]:
    """Yields the ranges of addresses that this process has, and those of torch's GPU memory."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        start, end = line.split(maxsplit=1)[0].split("-")
        yield int(start, 16), int(end, 16)
    if torch.cuda.is_initialized():
        for segment in torch.cuda.memory_snapshot():
            yield segment["address"], segment["address"] + segment["total_size"]
