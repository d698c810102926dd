"""Follows what torch has computed from the inputs, while a submission runs with shadows.

    origins = Origins(shadows)
    patch_launches(origins.launch)  # instead of shadows.launch, which it calls
    origins.give(tensors_of_the_case, structural=())
    with shadows.watching(), origins.watching():
        outputs = entry(*arguments)
    of_torch = [origins.is_of_torch(output) for output in outputs]

A launch plan contains no arithmetic by torch. On the host tier, torch may compute too, for example
to check a result. But an output may not depend on it: otherwise a kernel that only copies what
torch has computed would look like the work. So each storage has an origin, and an operation or a
launch passes on the highest origin of what it gets. Nobody knows what a kernel does with its
arguments, so each storage that a launch changes gets the highest origin of them.

These operations of torch pass on an origin, and all others that get data compute:
  - fills, copies and conversions, as in a launch plan;
  - products with numbers of the host, quotients, and the negative;
  - selections by indices that a kernel has written.

Memory that changes unseen (by another thread, a library, or without torch's modes), and memory of
unknown origin, counts as torch's. To see such changes, each storage has a digest of its contents
after the last write that was seen. Numbers that host code has read, and numpy's arrays, count as
numbers of the host.

Like Shadows, this object is in the submission's process. Not thread-safe."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves

from harness.candidate.operands import (
    addresses_of,
    call,
    is_of_torch,
    named,
    tensors_in,
    tensors_of,
    written,
)
from harness.candidate.shadows import Shadows
from harness.candidate.storages import digest, is_captured, is_mapped_anew, settle, storage_of
from harness.entry.operations import (
    ALIASES,
    ALLOCATIONS,
    DRAWN_INTO,
    DRAWN_LIKE,
    LIFTS,
    METADATA,
    MOVES,
    UNIFORM,
)
from harness.entry.torch_kernels import TorchKernels

# These operations return or fill memory without a look at their operands' values.
_MADE = (
    ALLOCATIONS
    | UNIFORM.keys()
    | DRAWN_LIKE
    | DRAWN_INTO
    | {"aten::fill_", "aten::zero_", "aten::new_empty_strided"}
)
# They change the memory of a tensor, or only assert something.
_WITHOUT_RESULT = (
    METADATA
    | {"aten::set_", "aten::resize_", "aten::resize_as_"}
    | {"aten::_assert_async", "aten::_functional_assert_async", "aten::_local_scalar_dense"}
)
_SCALINGS = frozenset(
    {"aten::mul", "aten::mul_", "aten::div", "aten::div_", "aten::neg", "aten::neg_"}
)
_SELECTIONS = frozenset(
    {"aten::index", "aten::index_select", "aten::gather", "aten::take", "aten::embedding"}
    | {"aten::index_put", "aten::index_put_", "aten::index_copy", "aten::index_copy_"}
    | {"aten::scatter", "aten::scatter_"}
)
_INDICES = ("index", "indices")
_SINGLE_BYTES = (
    16  # the size of the largest element: such memory of the CPU is a number of the host
)


# These functions make tensors of Python's numbers, and do more than operations show.
_NUMBERS = (bool, int, float, complex, np.ndarray, np.float32, np.float64)
_OF_NUMBERS = (torch.tensor, torch.as_tensor, torch.asarray, torch.Tensor.new_tensor)


class Origin(IntEnum):
    HOST = 0  # numbers of the host, and random numbers
    DATA = 1  # an input, or what kernels have made of data
    TORCH = 2  # what torch has computed from data, or something that nobody has seen


@dataclass
class _Known:
    storage: StorageWeakRef
    origin: Origin
    by_kernel: bool = False
    mark: int | None = None  # the digest of the contents; None if it is not known
    captured: bool = False  # an operation of a CUDA graph writes it


class Origins:
    """The origins of the storages of this process (see the module's docstring)."""

    def __init__(self, shadows: Shadows) -> None:
        self._shadows = shadows
        # The keys are identities of storages. None is reused while a weak reference exists.
        self._known: dict[int, _Known] = {}
        self.kernels = TorchKernels()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        with _Numbers(self), _Operations(self), self._replays():
            yield

    def give(
        self, tensors: Iterable[torch.Tensor], structural: Sequence[torch.Tensor] = ()
    ) -> None:
        """Says that these tensors are a case's inputs. Host code may also compute with structural
        ones in a launch plan."""
        for tensor in tensors:
            self.note([tensor], Origin.DATA, whole=True)
        for tensor in structural:
            self.note([tensor], Origin.HOST, whole=True)

    def is_of_torch(self, tensor: torch.Tensor) -> bool:
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            return self.origin(tensor) is Origin.TORCH

    @contextlib.contextmanager
    def launch(self, arguments: Any) -> Iterator[Any]:
        """The context of a launch, around that of the shadows."""
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            self._forget_freed()
            reached = list(tensors_of(arguments))
        origin, before = Origin.HOST, []

        def look(found: list[torch.Tensor], unknown: bool) -> None:
            # The kernel gets what the copies contain now.
            nonlocal origin
            reached.extend(found)
            for tensor in reached:
                origin = max(origin, self.origin(tensor, self._shadows.private(tensor)))
                before.append(self._mark_of(tensor))
            inside = (_is_inside(address, reached) for address in addresses_of(arguments))
            if unknown or not all(inside):
                origin = Origin.TORCH

        with self._shadows.launch(arguments, look) as given:
            yield given
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            for tensor, mark in zip(reached, before, strict=True):
                # Nobody but the kernel can write to the copy on which it worked.
                storage = self._shadows.private(tensor)
                if mark is None or storage is None or digest(storage) != mark:
                    self.note([tensor], max(origin, Origin.DATA), by_kernel=True, storage=storage)

    def origin(self, tensor: torch.Tensor, contents: torch.UntypedStorage | None = None) -> Origin:
        """Returns the origin of the tensor's memory. Finds out whether it has changed unseen:
        `contents` is a copy of the memory, if that counts."""
        storage = storage_of(tensor)
        if storage is None:  # such as a sparse tensor, whose parts nothing follows
            return Origin.HOST if tensor.device.type == "meta" else Origin.TORCH
        if not storage.nbytes():
            return Origin.HOST
        known = self._known.get(storage._cdata)
        if known is None:
            made = Origin.HOST if _is_of_host(storage) else Origin.TORCH
            self.note([tensor], made, whole=True, storage=contents)
            return self._known[storage._cdata].origin
        if known.mark is not None and not is_captured(storage):
            settle(storage)
            if (now := digest(storage if contents is None else contents)) != known.mark:
                known.origin, known.mark, known.by_kernel = Origin.TORCH, now, False
        return known.origin

    def by_kernel(self, tensor: torch.Tensor) -> bool:
        storage = storage_of(tensor)
        known = None if storage is None else self._known.get(storage._cdata)
        return known is not None and known.by_kernel and self.origin(tensor) is not Origin.TORCH

    def note(
        self,
        tensors: Iterable[torch.Tensor],
        origin: Origin,
        whole: bool = False,
        by_kernel: bool = False,
        storage: torch.UntypedStorage | None = None,
    ) -> None:
        """Notes that something with this origin was written to the tensors. `whole` means that
        nothing is left of what was there. `storage` has the contents that were written, if others
        than the tensor's count."""
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            for tensor in tensors:
                own = storage_of(tensor)
                if own is None or not own.nbytes():
                    continue
                whole_one = whole or (
                    tensor.is_contiguous() and tensor.numel() * tensor.itemsize == own.nbytes()
                )
                known = self._known.setdefault(own._cdata, _Known(StorageWeakRef(own), origin))
                known.origin = origin if whole_one else max(origin, known.origin)
                known.by_kernel = by_kernel
                known.captured |= is_captured(own)
                self._mark(known, own if storage is None else storage)

    def _mark_of(self, tensor: torch.Tensor) -> int | None:
        storage = storage_of(tensor)
        known = None if storage is None else self._known.get(storage._cdata)
        return (
            None if known is None or (storage is not None and is_captured(storage)) else known.mark
        )

    @staticmethod
    def _mark(known: _Known, storage: torch.UntypedStorage) -> None:
        if is_captured(storage) or is_mapped_anew(storage):
            known.mark = None
            return
        settle(storage)
        known.mark = digest(storage)

    @contextlib.contextmanager
    def _replays(self) -> Iterator[None]:
        """A replay of a CUDA graph writes what its captured operations have written."""
        graph = torch.cuda.CUDAGraph
        original = graph.replay

        def replay(one: Any) -> None:
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                captured = [
                    (known, torch.UntypedStorage._new_with_weak_ptr(known.storage.cdata))  # type: ignore[attr-defined]
                    for known in self._known.values()
                    if known.captured and not known.storage.expired()
                ]
                for known, storage in captured:
                    if known.mark is not None and digest(storage) != known.mark:
                        known.origin = Origin.TORCH
            original(one)
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                for known, storage in captured:
                    self._mark(known, storage)

        graph.replay = replay  # type: ignore[method-assign]
        try:
            yield
        finally:
            graph.replay = original  # type: ignore[method-assign]

    def _forget_freed(self) -> None:
        self._known = {at: one for at, one in self._known.items() if not one.storage.expired()}


class _Operations(TorchDispatchMode):
    """Passes origins on from an operation's operands to its results."""

    def __init__(self, origins: Origins) -> None:
        super().__init__()
        self._origins = origins

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name
        if func.is_view or name in ALIASES | LIFTS | _WITHOUT_RESULT or not is_of_torch(func):
            return call(self, func, args, kwargs)
        operands = tensors_in((args, kwargs))
        targets = written(func, args, kwargs)
        origin, by_kernel = self._of_result(func, args, kwargs)
        result = func(*args, **kwargs)
        self._origins.note(targets, origin, by_kernel=by_kernel)
        before = {id(one) for one in operands}
        made = [one for one in tensors_in(result) if id(one) not in before]
        self._origins.note(made, origin, whole=True, by_kernel=by_kernel)
        return result

    def _of_result(self, func: Any, args: Any, kwargs: Any) -> tuple[Origin, bool]:
        name, given = func._schema.name, named(func, args, kwargs)
        if not self._origins.kernels.unchanged(func) or not all(map(_is_plain, tensors_in(given))):
            return Origin.TORCH, False  # code of the submission runs in its place
        if name in _MADE:
            return self._highest(tensors_in(given.get("value"))), False
        if "out" in given or name == "aten::copy_":
            given = {at: one for at, one in given.items() if at not in ("out", "self")} | (
                {} if name == "aten::copy_" else {"self": given.get("self")}
            )
        sources = tensors_in(given)
        highest = self._highest(sources)
        if highest is Origin.HOST:
            return highest, False
        if name in MOVES:
            return highest, all(map(self._origins.by_kernel, sources))
        if name in _SCALINGS and len(sources) == 1 and not given.get("rounding_mode"):
            return highest, False
        if name in _SELECTIONS and self._is_selection(given):
            return highest, False
        return Origin.TORCH, False

    def _is_selection(self, given: dict[str, Any]) -> bool:
        if given.get("accumulate") or given.get("reduce"):
            return False
        indices = tensors_in([given.get(name) for name in _INDICES])
        return bool(indices) and all(map(self._origins.by_kernel, indices))

    def _highest(self, tensors: Iterable[torch.Tensor]) -> Origin:
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            return max(map(self._origins.origin, tensors), default=Origin.HOST)


class _Numbers(TorchFunctionMode):
    """Notes tensors that host code makes from Python's numbers."""

    def __init__(self, origins: Origins) -> None:
        super().__init__()
        self._origins = origins

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func in _OF_NUMBERS:
            data = args[1:2] if func is torch.Tensor.new_tensor else args[:1]
            if data and all(type(leaf) in _NUMBERS for leaf in tree_leaves(data)):
                self._origins.note([result], Origin.HOST, whole=True)
        return result


def _is_inside(address: int | None, tensors: Iterable[torch.Tensor]) -> bool:
    storages = [one for tensor in tensors if (one := storage_of(tensor)) is not None]
    return address is not None and any(
        0 <= address - one.data_ptr() < one.nbytes() for one in storages
    )


def _is_plain(tensor: torch.Tensor) -> bool:
    """A class of the submission may run code of its own for an operation."""
    return type(tensor) in (torch.Tensor, torch.nn.Parameter)


def _is_of_host(storage: torch.UntypedStorage) -> bool:
    """Returns True for numpy's memory, and for a number that torch has made a tensor of."""
    if storage.device.type != "cpu":
        return False
    return not storage.resizable() or storage.nbytes() <= _SINGLE_BYTES
