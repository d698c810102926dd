"""The memory of all tensors that are alive, as address ranges: what a kernel may touch, however it
got the pointer.

    live = LiveMemory()
    with live.watching(): run_user_code()   # every storage that torch makes, and every one whose pointer is asked for, is noted
    live.saw(argument)                      # one that was made elsewhere
    starts, ends = live.ranges()            # sorted, apart from each other; without storages that have been freed since

A range is a whole storage: what a view leaves out belongs to it, as it does to the buffer of a GPU.
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

PRUNE_AFTER = 4096  # storages: freed ones are forgotten at least this often


class LiveMemory:
    """See the module."""

    def __init__(self) -> None:
        self._seen: dict[
            int, StorageWeakRef
        ] = {}  # by the storage's identity, which stays taken while there is a weak reference
        self._ranges: tuple[list[int], list[int]] | None = None
        self._watchers = 0

    @property
    def watched(self) -> bool:
        """Whether allocations are being noted: the ranges are not all there is otherwise."""
        return self._watchers > 0

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        self._watchers += 1
        try:
            with _Results(self), _Pointers(self):
                yield
        finally:
            self._watchers -= 1

    def saw(self, tensor: torch.Tensor) -> None:
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
        """To be called before a launch: storages go without notice."""
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
            if ends and start < ends[-1]:  # two storages over the same bytes, by way of numpy
                ends[-1] = max(ends[-1], end)
            else:
                starts.append(start)
                ends.append(end)
        return starts, ends


def _address(storage: torch.UntypedStorage) -> int:
    """0: it has no memory. Of wrapper subclasses and zeros that were never made, torch does not say
    it otherwise than by an exception."""
    try:
        return storage.data_ptr()
    except RuntimeError:
        return 0


class _Results(TorchDispatchMode):
    """Notes what operations return; views are over memory that is known, or gets known by its
    pointer."""

    def __init__(self, live: LiveMemory) -> None:
        super().__init__()
        self._live = live

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            for leaf in (result,) if isinstance(result, torch.Tensor) else tree_leaves(result):
                if isinstance(leaf, torch.Tensor):
                    self._live.saw(leaf)
        return result


class _Pointers(TorchFunctionMode):
    """Notes tensors that no operation made (numpy's, say) when their pointer is about to be passed
    on as a number."""

    def __init__(self, live: LiveMemory) -> None:
        super().__init__()
        self._live = live

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.data_ptr:
            self._live.saw(args[0])
        return func(*args, **(kwargs or {}))
