"""Makes `tl.reduce` and `tl.associative_scan` fast in Triton's interpreter.

    combine_slices()  # once, after the switch to the interpreter

The interpreter calls a combine function for one element at a time, and a call takes tens of
microseconds. Many functions of Triton's library have a combine function: `tl.xor_sum` (and so
`tl.sort` and `tl.topk`), `tl.reduce_or`, and all scans but sums and products. With this module, a
combine function gets all elements with the same index along the axis in one call. The calls along
the axis keep their order, so the result stays the same. (The interpreter's own implementation makes
a quiet NaN of a signalling one; this module and a GPU keep the NaN.)

Some combine functions work only for single elements, for example because they contain `if a > b:`.
The interpreter's own implementation runs these functions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import ReduceOps, ReduceScanOpInterface, ScanOps, TensorHandle

Array: TypeAlias = np.ndarray[Any, Any]
Steps: TypeAlias = Iterator[list[Array]]  # one array for each operand, at each index of the axis


class _NeedsElements(Exception):
    """The combine function does something that works only for single elements."""


def combine_slices() -> None:
    """Patches Triton's interpreter (see the module's docstring)."""
    reduce_elements, scan_elements = ReduceOps.generic_reduce, ScanOps.generic_scan
    ReduceOps.generic_reduce = lambda op, operands: _reduce(op, operands, reduce_elements)
    ScanOps.generic_scan = lambda op, operands: _scan(op, operands, scan_elements)
    _watch_conditions()
    _watch_reductions()


def _reduce(op: Any, operands: Any, of_elements: Callable[..., Any]) -> Any:
    if op.axis is None:
        return of_elements(op, operands)
    _count_from_start(op, operands)
    results = _of_slices(op, operands, _last)
    if results is None:
        return of_elements(op, operands)
    if op.keep_dims:
        results = [np.expand_dims(one, op.axis) for one in results]
    return [op.to_tensor(one, of.dtype) for one, of in zip(results, operands, strict=True)]


def _scan(op: Any, operands: Any, of_elements: Callable[..., Any]) -> Any:
    _count_from_start(op, operands)
    results = _of_slices(op, operands, _stacked)
    if results is None:
        return of_elements(op, operands)
    results = [np.moveaxis(one, 0, op.axis) for one in results]
    return [op.to_tensor(one, of.dtype) for one, of in zip(results, operands, strict=True)]


def _count_from_start(op: Any, operands: Any) -> None:
    """Makes a negative axis positive, because the interpreter's own implementation accepts none."""
    dimensions = operands[0].handle.data.ndim
    if not -dimensions <= op.axis < dimensions:
        raise ValueError(f"axis {op.axis} is out of range for a block of {dimensions} dimensions")
    op.axis %= dimensions


def _last(steps: Steps) -> list[Array]:
    *_, last = steps
    return last


def _stacked(steps: Steps) -> list[Array]:
    return [np.stack(of_operand) for of_operand in zip(*steps, strict=True)]


def _of_slices(
    op: Any, operands: Any, collect: Callable[[Steps], list[Array]]
) -> list[Array] | None:
    """Collects all steps along the axis. Returns None if a slice is one element, or if the combine
    function does not work with slices. Then the interpreter's own implementation runs it, and raises
    its errors again."""
    shapes = {one.handle.data.shape for one in operands}
    if len(shapes) > 1 or len(shapes.pop()) < 2:
        return None
    try:
        with _only_elementwise():
            return collect(_steps(op, operands))
    except Exception:
        return None


def _steps(op: Any, operands: Any) -> Steps:
    arrays = [np.moveaxis(one.handle.data, op.axis, 0) for one in operands]
    dtypes = [one.dtype for one in operands]
    so_far = [array[0] for array in arrays]
    yield so_far
    for at in range(1, len(arrays[0])):
        next_slices = [array[at] for array in arrays]
        combined = op.combine_fn.fn(*_scalars(so_far, dtypes), *_scalars(next_slices, dtypes))
        results = combined if isinstance(combined, tuple) else (combined,)
        so_far = [_like(one, of) for one, of in zip(results, next_slices, strict=True)]
        yield so_far


def _scalars(slices: Sequence[Array], dtypes: Sequence[Any]) -> list[Any]:
    """Returns the slices as tensors whose type is a scalar's. Triton chooses the type of an
    expression by different rules for scalars and blocks, and a combine function gets scalars."""
    return [
        tl.core.tensor(TensorHandle(one, dtype.scalar), dtype.scalar)
        for one, dtype in zip(slices, dtypes, strict=True)
    ]


def _like(result: Any, of: Array) -> Array:
    data = result.handle.data
    if result.type.is_block() or data.dtype != of.dtype or data.shape not in (of.shape, (1,)):
        raise _NeedsElements("the result has another type than the operand")
    return np.broadcast_to(data, of.shape)


# Not empty while a combine function gets slices.
_of_whole_slices: list[bool] = []


@contextlib.contextmanager
def _only_elementwise() -> Iterator[None]:
    """In this context, an operation that is not elementwise raises _NeedsElements: a condition on a
    tensor, and a reduction or scan."""
    _of_whole_slices.append(True)
    try:
        yield
    finally:
        _of_whole_slices.pop()


def _watch_conditions() -> None:
    """Makes a condition on a slice raise _NeedsElements. The interpreter defines the conditions of
    tensors anew for each function that an interpreted function calls."""
    original = interpreter._patch_lang_tensor

    def patch(tensor: Any, scope: Any) -> None:
        original(tensor, scope)
        of_element = tensor.__bool__

        def condition(value: Any) -> bool:
            if _of_whole_slices and value.handle.data.size != 1:
                raise _NeedsElements("a condition")
            return bool(of_element(value))

        scope.set_attr(tensor, "__bool__", condition)

    interpreter._patch_lang_tensor = patch


def _watch_reductions() -> None:
    """Makes a reduction or scan of a slice raise _NeedsElements."""
    apply = ReduceScanOpInterface.apply

    def watched(op: Any, operands: Any) -> Any:
        if _of_whole_slices:
            raise _NeedsElements("a reduction in a combine function")
        return apply(op, operands)

    ReduceScanOpInterface.apply = watched
