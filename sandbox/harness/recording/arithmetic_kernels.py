"""Defines Assay's kernels for the arithmetic that wrappers do in torch around their own kernels,
for example a sum of partial results, a multiplication by a scale, or a maximum.

    # `out`, `a` and `b` are fake, dense tensors with the shape of the result.
    launch_pointwise("add", out, [a, b], scalar=None)
    launch_reduce("sum", out, source, dims)  # out is dense; dims are reduced

Each kernel is compiled and launched like a kernel of the submission. Reports show it as
`assay_pointwise` or `assay_reduce`. The results equal torch's: types of 8 and 16 bits are computed
in 32 bits, and other types in their own type. The kernels are not tuned. Heavy work belongs in a
kernel of the submission."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
import triton
import triton.language as tl

from harness.recording.copy_kernel import collapsed

UNARY = frozenset({"abs", "neg", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sigmoid", "relu"})
BINARY = frozenset(
    {"add", "sub", "mul", "div", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge"}
)
REDUCTIONS = frozenset({"sum", "mean", "amax", "amin"})
BLOCK = 1024
ROWS, COLUMNS = 32, 64  # the tile of a reduction
# The maximum number of columns that one program reduces. For more columns, several programs reduce
# parts of a row, and a second launch combines the partial results.
MAX_COLUMNS_ALONE = 8192
MAX_SPLITS = 1024
# The kernels take scalars as doubles. A double represents all integers up to this number exactly.
MAX_EXACT_INTEGER = 2**53


@triton.jit
def assay_pointwise(  # type: ignore[no-untyped-def]
    dst, a, b, scalar: tl.float64, count, OP: tl.constexpr, HAS_B: tl.constexpr, TYPE: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    live = at < count
    x = tl.load(a + at, mask=live, other=1).to(TYPE)
    if HAS_B:  # noqa: SIM108
        y = tl.load(b + at, mask=live, other=1).to(TYPE)
    else:
        y = tl.full((BLOCK,), scalar, TYPE)
    if OP == "abs":
        z = tl.abs(x)
    elif OP == "neg":
        z = -x
    elif OP == "exp":
        z = tl.exp(x)
    elif OP == "log":
        z = tl.log(x)
    elif OP == "sqrt":
        z = tl.sqrt(x)
    elif OP == "rsqrt":
        z = 1.0 / tl.sqrt(x)
    elif OP == "reciprocal":
        z = 1.0 / x
    elif OP == "sigmoid":
        z = 1.0 / (1.0 + tl.exp(-x))
    elif OP == "relu":
        z = tl.where(x < 0, tl.zeros_like(x), x)
    elif OP == "add":
        z = x + y
    elif OP == "sub":
        z = x - y
    elif OP == "rsub":
        z = y - x
    elif OP == "mul":
        z = x * y
    elif OP == "div":
        z = x / y
    elif OP == "rdiv":
        z = y / x
    elif OP == "maximum":
        z = tl.where((x > y) | (x != x), x, y)
    elif OP == "minimum":
        z = tl.where((x < y) | (x != x), x, y)
    elif OP == "eq":
        z = x == y
    elif OP == "ne":
        z = x != y
    elif OP == "lt":
        z = x < y
    elif OP == "le":
        z = x <= y
    elif OP == "gt":
        z = x > y
    else:
        tl.static_assert(OP == "ge")
        z = x >= y
    tl.store(dst + at, z.to(dst.dtype.element_ty), mask=live)


@triton.jit
def _maximum(x, y):  # type: ignore[no-untyped-def]
    return tl.where((x > y) | (x != x), x, y)


@triton.jit
def _minimum(x, y):  # type: ignore[no-untyped-def]
    return tl.where((x < y) | (x != x), x, y)


@triton.jit
def assay_reduce(  # type: ignore[no-untyped-def]
    dst, src, rows, columns, share, row_stride, column_stride, splits,
    OP: tl.constexpr, TYPE: tl.constexpr, START: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    part = tl.program_id(1)
    begin = part.to(tl.int64) * share
    end = tl.minimum(begin + share, columns)
    found = tl.full((ROWS, COLUMNS), START, TYPE)
    for first in range(begin, end, COLUMNS):
        column = first + tl.arange(0, COLUMNS)
        live = (row < rows)[:, None] & (column < end)[None, :]
        x = tl.load(
            src + row[:, None] * row_stride + column[None, :] * column_stride, mask=live
        ).to(TYPE)
        x = tl.where(live, x, tl.full((ROWS, COLUMNS), START, TYPE))
        if OP == "amax":
            found = _maximum(found, x)
        elif OP == "amin":
            found = _minimum(found, x)
        else:
            found += x
    if OP == "amax":
        one = tl.reduce(found, 1, _maximum)
    elif OP == "amin":
        one = tl.reduce(found, 1, _minimum)
    else:
        one = tl.sum(found, 1)
    if OP == "mean":
        one = one / columns
    tl.store(dst + row * splits + part, one.to(dst.dtype.element_ty), mask=row < rows)


_TYPES = {
    torch.float64: tl.float64,
    torch.float32: tl.float32,
    torch.float16: tl.float32,
    torch.bfloat16: tl.float32,
    torch.int64: tl.int64,
    torch.int32: tl.int32,
    torch.int16: tl.int32,
    torch.int8: tl.int32,
    torch.uint8: tl.int32,
    torch.bool: tl.int32,
}
_ACCUMULATORS = {
    tl.float64: torch.float64,
    tl.float32: torch.float32,
    tl.int64: torch.int64,
    tl.int32: torch.int32,
}


def can_compute(*dtypes: torch.dtype) -> bool:
    return all(dtype in _TYPES for dtype in dtypes)


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.view(torch.int8) if tensor.dtype == torch.bool else tensor


def launch_pointwise(
    name: str,
    out: torch.Tensor,
    operands: Sequence[torch.Tensor],
    scalar: float,
    dtype: torch.dtype,
) -> None:
    """Launches an elementwise operation. `dtype` is the type to which torch promotes the operands.
    `scalar` is the second operand if that operand is a number."""
    tensors = [_plain(tensor) for tensor in operands]
    assay_pointwise[(triton.cdiv(out.numel(), BLOCK),)](
        _plain(out),
        tensors[0],
        tensors[-1],
        scalar,
        out.numel(),
        OP=name,
        HAS_B=len(tensors) > 1,
        TYPE=_TYPES[dtype],
        BLOCK=BLOCK,
    )


def launch_reduce(
    name: str,
    out: torch.Tensor,
    source: torch.Tensor,
    dims: Sequence[int],
    dense: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    """Launches a reduction of `source` over `dims` into the dense tensor `out`. Each program needs
    one stride for the rows and one for the columns. If the layout of `source` has more strides, the
    function `dense` makes a dense copy first."""
    kept = [dim for dim in range(source.dim()) if dim not in dims]
    view = source.permute([*kept, *dims])
    rows, columns = math.prod(view.shape[: len(kept)]), math.prod(view.shape[len(kept) :])
    row_stride, column_stride = _stride(view, 0, len(kept)), _stride(view, len(kept), view.dim())
    if row_stride is None or column_stride is None:
        view = dense(view)
        row_stride, column_stride = columns, 1
    kind = (
        tl.int64
        if name == "sum" and out.dtype == torch.int64
        else _TYPES[out.dtype if name in ("sum", "mean") else source.dtype]
    )
    start = 0 if name in ("sum", "mean") else _limit(kind, name)
    groups = triton.cdiv(rows, ROWS)
    splits = min(triton.cdiv(columns, MAX_COLUMNS_ALONE), max(MAX_SPLITS // groups, 1))
    if splits > 1:
        partial = torch.empty((rows, splits), dtype=_ACCUMULATORS[kind], device=out.device)
        share = triton.cdiv(columns, splits)
        first = "sum" if name == "mean" else name
        _launch(
            first,
            partial,
            view,
            rows,
            columns,
            share,
            (row_stride, column_stride),
            splits,
            kind,
            start,
            groups,
        )
        if name == "mean":
            mean = torch.empty((rows, 1), dtype=partial.dtype, device=out.device)
            _launch("sum", mean, partial, rows, splits, splits, (splits, 1), 1, kind, start, groups)
            launch_pointwise("div", out, [mean], float(columns), partial.dtype)
            return
        _launch(name, out, partial, rows, splits, splits, (splits, 1), 1, kind, start, groups)
        return
    _launch(
        name, out, view, rows, columns, columns, (row_stride, column_stride), 1, kind, start, groups
    )


def _launch(
    name: str, out: torch.Tensor, source: torch.Tensor, rows: int, columns: int, share: int, strides: tuple[int, int],
    splits: int, kind: tl.dtype, start: float, groups: int,
) -> None:  # fmt: skip
    assay_reduce[(groups, splits)](
        _plain(out),
        _plain(source),
        rows,
        columns,
        share,
        *strides,
        splits,
        OP=name,
        TYPE=kind,
        START=start,
        ROWS=ROWS,
        COLUMNS=COLUMNS,
    )


def _stride(view: torch.Tensor, begin: int, end: int) -> int | None:
    """Returns the stride of the one dimension into which the dimensions from `begin` up to, but not
    including, `end` can be merged. Returns None if they cannot be merged."""
    extents, (steps,) = collapsed(view.shape[begin:end], view.stride()[begin:end])
    return None if len(extents) > 1 else steps[0] if steps else 0


def _limit(kind: tl.dtype, name: str) -> float:
    if kind.is_floating():
        return -math.inf if name == "amax" else math.inf
    bits = kind.primitive_bitwidth - 1
    return -(2**bits) if name == "amax" else 2**bits - 1
