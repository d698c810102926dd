"""Tracks the memory of all live tensors as address ranges. A kernel may touch these ranges,
whatever the source of its pointer.

    live = LiveMemory()
    with live.watching():  # notes every storage that torch makes or whose pointer code reads
        run_user_code()
    live.add(argument)  # a tensor that was made elsewhere
    starts, ends = live.ranges()  # sorted and disjoint, without freed storages

A range is a whole storage. It includes the parts that a view leaves out, as a buffer of a GPU does.
Storages are held weakly."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

PRUNE_AFTER = 4096  # freed storages are dropped after at most this many new ones


class LiveMemory:
    """The live memory of this process (see the module's docstring)."""

    def __init__(self) -> None:
        # By the storage's identity, which is not reused while a weak reference exists.
        self._seen: dict[int, StorageWeakRef] = {}
        self._ranges: tuple[list[int], list[int]] | None = None
        self._watchers = 0

    @property
    def watched(self) -> bool:
        """Returns True while allocations are noted. Otherwise the ranges are incomplete."""
        return self._watchers > 0

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        self._watchers += 1
        try:
            with _Results(self), _Pointers(self):
                yield
        finally:
            self._watchers -= 1

    def add(self, tensor: torch.Tensor) -> None:
        with torch._C.DisableTorchFunction():
            if tensor.layout is not torch.strided:
                return
            storage = torch.Tensor.untyped_storage(tensor)
        if storage._cdata not in self._seen:
            if len(self._seen) >= PRUNE_AFTER:
                self.ranges()
            self._seen[storage._cdata] = StorageWeakRef(storage)
            self._ranges = None

    def forget_freed(self) -> None:
        """Drops freed storages, which give no notice. Call it before a launch."""
        self._ranges = None

    def ranges(self) -> tuple[list[int], list[int]]:
        if self._ranges is None:
            self._ranges = self._measure()
        return self._ranges

    def _measure(self) -> tuple[list[int], list[int]]:
        spans = []
        for identity, reference in list(self._seen.items()):
            storage = torch.UntypedStorage._new_with_weak_ptr(reference.cdata)  # type: ignore[attr-defined]
            if storage is None:
                del self._seen[identity]
            elif (start := _address(storage)) != 0:
                spans.append((start, start + storage.nbytes()))
        starts: list[int] = []
        ends: list[int] = []
        for start, end in sorted(spans):
            if ends and start < ends[-1]:  # two storages over the same bytes, made through numpy
                ends[-1] = max(ends[-1], end)
            else:
                starts.append(start)
                ends.append(end)
        return starts, ends


def _address(storage: torch.UntypedStorage) -> int:
    """Returns 0 if the storage has no memory. For wrapper subclasses and for zeros that were never
    made, torch reports that only by an exception."""
    try:
        return storage.data_ptr()
    except RuntimeError:
        return 0


class _Results(TorchDispatchMode):
    """Notes the results of operations. Views need no note: their memory is known already, or
    becomes known when code reads their pointer."""

    def __init__(self, live: LiveMemory) -> None:
        super().__init__()
        self._live = live

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            for leaf in (result,) if isinstance(result, torch.Tensor) else tree_leaves(result):
                if isinstance(leaf, torch.Tensor):
                    self._live.add(leaf)
        return result


class _Pointers(TorchFunctionMode):
    """Notes tensors that no torch operation made, such as numpy's, when code reads their pointer as
    a number."""

    def __init__(self, live: LiveMemory) -> None:
        super().__init__()
        self._live = live

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.data_ptr:
            self._live.add(args[0])
        return func(*args, **(kwargs or {}))
