"""Makes `tl.reduce` and `tl.associative_scan` fast in Triton's interpreter.

    combine_slices()  # once, after the switch to the interpreter

The interpreter calls a combine function for one element at a time, and a call takes tens of
microseconds. Many functions of Triton's library have a combine function: `tl.xor_sum` (and so
`tl.sort` and `tl.topk`), `tl.reduce_or`, and all scans but sums and products. With this module, a
combine function gets all elements with the same index along the axis in one call. The calls along
the axis keep their order, and all bits of the result stay the same.

Some combine functions work only for single elements, for example because they contain `if a > b:`.
The interpreter's own implementation runs these functions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import triton.language as tl
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


def _reduce(op: Any, operands: Any, of_elements: Callable[..., Any]) -> Any:
    shape = operands[0].handle.data.shape
    if op.axis is None:
        return of_elements(op, operands)
    op.axis %= len(shape)  # the interpreter's own implementation accepts no negative axis
    results = _of_slices(op, operands, _last) if len(shape) > 1 else None
    if results is None:
        return of_elements(op, operands)
    if op.keep_dims:
        results = [np.expand_dims(one, op.axis) for one in results]
    return [op.to_tensor(one, of.dtype) for one, of in zip(results, operands, strict=True)]


def _scan(op: Any, operands: Any, of_elements: Callable[..., Any]) -> Any:
    shape = operands[0].handle.data.shape
    op.axis %= len(shape)
    results = _of_slices(op, operands, _stacked) if len(shape) > 1 else None
    if results is None:
        return of_elements(op, operands)
    results = [np.moveaxis(one, 0, op.axis) for one in results]
    return [op.to_tensor(one, of.dtype) for one, of in zip(results, operands, strict=True)]


def _last(steps: Steps) -> list[Array]:
    *_, last = steps
    return last


def _stacked(steps: Steps) -> list[Array]:
    return [np.stack(of_operand) for of_operand in zip(*steps, strict=True)]


def _of_slices(
    op: Any, operands: Any, collect: Callable[[Steps], list[Array]]
) -> list[Array] | None:
    """Collects all steps along the axis. Returns None if the combine function does not work with
    slices. Then the interpreter's own implementation runs it, and raises its errors again."""
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
    if data.dtype != of.dtype:
        raise _NeedsElements("the result has another type than the operand")
    return np.broadcast_to(data, of.shape)


@contextlib.contextmanager
def _only_elementwise() -> Iterator[None]:
    """In this context, an operation that is not elementwise raises _NeedsElements: a condition on a
    tensor, and a reduction or scan."""
    of_tensor, apply = tl.core.tensor.__bool__, ReduceScanOpInterface.apply

    def single(tensor: Any) -> bool:
        if tensor.handle.data.size != 1:
            raise _NeedsElements("a condition")
        return bool(of_tensor(tensor))

    def refused(op: Any, operands: Any) -> Any:
        raise _NeedsElements("a reduction in a combine function")

    tl.core.tensor.__bool__, ReduceScanOpInterface.apply = single, refused
    try:
        yield
    finally:
        tl.core.tensor.__bool__, ReduceScanOpInterface.apply = of_tensor, apply
