"""Passes origins on from what an operation of torch gets to what it makes (origins.py).

with NumberOrigins(origins), OperationOrigins(origins): ..."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from harness.candidate.operands import (
    call,
    is_composite,
    is_of_torch,
    named,
    tensors_in,
    written,
)
from harness.candidate.origin import Origin
from harness.candidate.storages import bytes_of, is_captured, is_mapped_anew, storage_of
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
from harness.wire.poison import fill_poison

if TYPE_CHECKING:
    from harness.candidate.origins import Origins

# These operations return or fill memory without a look at their operands' values.
_MADE = (
    ALLOCATIONS
    | UNIFORM.keys()
    | DRAWN_LIKE
    | DRAWN_INTO
    | {"aten::fill_", "aten::zero_", "aten::new_empty_strided"}
)
_COPIES = frozenset({"aten::copy_", "aten::_foreach_copy_"})
_MOVES = MOVES | _COPIES
# These write one tensor, and would write the same again.
_REPEATED = frozenset({"aten::copy_", "aten::fill_", "aten::zero_"} | {"aten::mul_", "aten::div_"})
_RESIZES = frozenset({"aten::resize_", "aten::resize_as_"})
# They change the memory of a tensor, or only assert something.
_WITHOUT_RESULT = METADATA | {
    "aten::set_",
    "aten::_assert_async",
    "aten::_functional_assert_async",
    "aten::_local_scalar_dense",
}
_QUOTIENTS = frozenset({"aten::div", "aten::div_"})
_SCALINGS = _QUOTIENTS | {"aten::mul", "aten::mul_", "aten::neg", "aten::neg_"}
_SELECTIONS = frozenset(
    {"aten::index", "aten::index_select", "aten::gather", "aten::take", "aten::embedding"}
    | {"aten::index_put", "aten::index_put_", "aten::index_copy", "aten::index_copy_"}
    | {"aten::scatter", "aten::scatter_"}
)
_INDICES = ("index", "indices")

# These functions make tensors of Python's numbers, and do more than operations show.
_NUMBERS = (
    bool,
    int,
    float,
    complex,
    np.bool_,
    np.int32,
    np.int64,
    np.float16,
    np.float32,
    np.float64,
)
_OF_NUMBERS = (torch.tensor, torch.as_tensor, torch.asarray, torch.Tensor.new_tensor)


class OperationOrigins(TorchDispatchMode):
    """Passes origins on from an operation's operands to its results."""

    def __init__(self, origins: Origins) -> None:
        super().__init__()
        self._origins = origins

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name
        if not is_of_torch(func):
            return call(self, func, args, kwargs)
        unchanged = self._origins.runs_torchs_own(func)
        if unchanged and name in _RESIZES:
            return self._resize(func, args, kwargs)
        if unchanged and not _has_rule(name) and is_composite(func):
            # In inference mode, torch does not split such an operation before a mode sees it.
            with self:
                return func.decompose(*args, **kwargs)
        operands = tensors_in((args, kwargs))
        if unchanged and (func.is_view or name in ALIASES | LIFTS | _WITHOUT_RESULT):
            result = func(*args, **kwargs)
            self._note_new(result, operands)
            return result
        targets = written(func, args, kwargs)
        for target in targets:
            # Something may have written, or be writing, to the memory around the part that the
            # operation writes. The operation must not hide it.
            self._origins.look(target)
        origin, by_kernel = Origin.TORCH, False  # if code of the submission runs in its place
        if unchanged:
            origin, by_kernel = self._of_result(func, args, kwargs)
        private = None
        if origin is not Origin.TORCH and name in _REPEATED and len(targets) == 1:
            private = self._repeated(func, targets[0], operands, args, kwargs)
        result = func(*args, **kwargs)
        self._origins.note(targets, origin, by_kernel=by_kernel, storage=private)
        before = {id(one) for one in operands} if unchanged else set()
        made = [one for one in tensors_in(result) if id(one) not in before]
        self._origins.note(made, origin, whole=True, by_kernel=by_kernel)
        if origin is not Origin.TORCH and self._of_result(func, args, kwargs)[0] > origin:
            # Something has written to an operand while the operation ran.
            self._origins.note([*targets, *made], Origin.TORCH, whole=True)
        return result

    def _repeated(
        self, func: Any, target: torch.Tensor, operands: list[torch.Tensor], args: Any, kwargs: Any
    ) -> torch.UntypedStorage | None:
        """Returns what the operation must make of the target's memory: the operation runs on a copy
        to which nothing else can write. Returns None if other operands lie in the same memory."""
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            storage = storage_of(target)
            if storage is None or is_captured(storage) or is_mapped_anew(storage):
                return None
            for one in operands:
                other = storage_of(one)
                if one is not target and other is not None and other._cdata == storage._cdata:
                    return None
            if not _is_plain(target) or target.is_conj() or target.is_neg():
                return None
            copy = storage.clone()
            self._origins.origin(target, copy)  # the copy may contain what was written just now
            private = torch.empty(0, dtype=target.dtype, device=target.device).set_(  # type: ignore[call-overload]
                copy, target.storage_offset(), tuple(target.shape), tuple(target.stride())
            )
            given = [private if one is target else one for one in args]
            func(*given, **{key: private if one is target else one for key, one in kwargs.items()})
            return copy

    def _resize(self, func: Any, args: Any, kwargs: Any) -> Any:
        """More memory may still contain what torch has computed earlier, so it is filled."""
        tensor = named(func, args, kwargs)["self"]
        storage = storage_of(tensor)
        before = 0 if storage is None else storage.nbytes()
        origin = self._highest([tensor])
        result = func(*args, **kwargs)
        if storage is not None and storage.nbytes() != before:
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                if storage.nbytes() > before and not is_mapped_anew(storage):
                    fill_poison(bytes_of(storage)[before:])
            self._origins.note([tensor], origin, whole=True)
        return result

    def _note_new(self, result: Any, operands: list[torch.Tensor]) -> None:
        """Notes what a view has copied: torch counts operations as views that copy if they must."""
        before = {storage._cdata for one in operands if (storage := storage_of(one)) is not None}
        made = [
            one
            for one in tensors_in(result)
            if (storage := storage_of(one)) is not None and storage._cdata not in before
        ]
        if made and operands:
            self._origins.note(made, self._highest(operands), whole=True)

    def _of_result(self, func: Any, args: Any, kwargs: Any) -> tuple[Origin, bool]:
        name, given = func._schema.name, named(func, args, kwargs)
        if not all(map(_is_plain, tensors_in(given))):
            return Origin.TORCH, False  # code of the submission runs in its place
        if name in _MADE:
            return self._highest(tensors_in(given.get("value"))), False
        if name in _COPIES:
            given.pop("self")
        given.pop("out", None)
        sources = tensors_in(given)
        highest = self._highest(sources)
        if highest is Origin.HOST:
            return highest, False
        if name in _MOVES:
            return highest, all(map(self._origins.by_kernel, sources))
        if name in _SCALINGS and self._is_scaling(name, given):
            return highest, False
        if name in _SELECTIONS and self._is_selection(given):
            return highest, False
        return Origin.TORCH, False

    def _is_scaling(self, name: str, given: dict[str, Any]) -> bool:
        if given.get("rounding_mode"):
            return False
        if name in _QUOTIENTS and not self._is_number(given.get("other")):
            return False
        return sum(not self._is_number(one) for one in tensors_in(given)) == 1

    def _is_number(self, value: Any) -> bool:
        """A tensor without dimensions that depends on no data is a number of the host."""
        if not isinstance(value, torch.Tensor):
            return True
        return value.dim() == 0 and self._highest([value]) is Origin.HOST

    def _is_selection(self, given: dict[str, Any]) -> bool:
        if given.get("accumulate") or given.get("reduce"):
            return False
        indices = tensors_in([given.get(name) for name in _INDICES])
        return bool(indices) and all(map(self._origins.by_kernel, indices))

    def _highest(self, tensors: Iterable[torch.Tensor]) -> Origin:
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            return max(map(self._origins.origin, tensors), default=Origin.HOST)


class NumberOrigins(TorchFunctionMode):
    """Notes tensors that host code makes from Python's numbers and numpy's arrays."""

    def __init__(self, origins: Origins) -> None:
        super().__init__()
        self._origins = origins

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        leaves = list(_leaves(func, args, kwargs)) if func in _OF_NUMBERS else []
        known = bool(leaves) and all(type(one) in (*_NUMBERS, np.ndarray) for one in leaves)
        result = func(*args, **kwargs)
        if known and self._origins.runs_torchs_own():
            arrays = [one for one in leaves if type(one) is np.ndarray]
            origins = [self._origins.of_memory(*_range_of(array)) for array in arrays]
            self._origins.note([result], max(origins, default=Origin.HOST), whole=True)
        return result


def _has_rule(name: str) -> bool:
    lists = (_MADE, _MOVES, _SCALINGS, _SELECTIONS, ALIASES, LIFTS, _WITHOUT_RESULT)
    return any(name in one for one in lists)


def _leaves(func: Any, args: Any, kwargs: Any) -> Iterator[Any]:
    """Yields the leaves of the data from which one of _OF_NUMBERS makes a tensor. Anything but a
    plain list or tuple is a leaf, because a class of the submission may say what it likes about
    its contents."""
    position = 1 if func is torch.Tensor.new_tensor else 0
    if len(args) > position:
        yield from _parts(args[position])
    for name in ("data", "obj"):
        if name in kwargs:
            yield from _parts(kwargs[name])


def _parts(value: Any) -> Iterator[Any]:
    if type(value) in (list, tuple):
        for part in value:
            yield from _parts(part)
    else:
        yield value


def _range_of(array: Any) -> tuple[int, int]:
    """Returns the address of the array's memory and the number of its bytes."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return low, high - low


def _is_plain(tensor: torch.Tensor) -> bool:
    """A class of the submission may run code of its own for an operation."""
    return type(tensor) in (torch.Tensor, torch.nn.Parameter)
