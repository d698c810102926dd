"""The kernels compute the minimum and its index over the middle dimension. A tile covers a piece of
the middle dimension and a strip of the inner dimension, so that whole cache lines are read. Each
lane keeps its smallest entry and the first index of that entry. One reduction over the tile follows
at the end.

If there are too few strips to fill the GPU, the middle dimension is split over programs, and a
second kernel chooses the smallest result of the splits. A lane that finds no entry below +inf keeps
its first index, so a column of +inf gets index 0 without a special case."""

import torch
import triton
import triton.language as tl

TILE = 4096
PROGRAMS = 528  # four programs for each SM of the largest GPU
NOWHERE = tl.constexpr(2147483647)


@triton.jit
def _min_kernel(
    x_ptr, values_ptr, indices_ptr, length, inner, height, ROWS: tl.constexpr, COLS: tl.constexpr
):
    batch = tl.program_id(0)
    column = tl.program_id(1) * COLS + tl.arange(0, COLS)
    split = tl.program_id(2)
    first = split * height
    last = tl.minimum(first + height, length)
    base = x_ptr + batch.to(tl.int64) * length * inner
    best = tl.full((ROWS, COLS), float("inf"), tl.float32)
    where = tl.zeros((ROWS, COLS), tl.int32) + (first + tl.arange(0, ROWS))[:, None]
    for start in range(first, last, ROWS):
        place = start + tl.arange(0, ROWS)
        mask = (place < last)[:, None] & (column < inner)[None, :]
        x = tl.load(
            base + place.to(tl.int64)[:, None] * inner + column[None, :],
            mask=mask,
            other=float("inf"),
        )
        better = x < best
        best = tl.where(better, x, best)
        where = tl.where(better, place[:, None], where)
    least = tl.min(best, axis=0)
    index = tl.min(tl.where(best == least[None, :], where, NOWHERE), axis=0)
    out = (split * tl.num_programs(0) + batch) * inner + column
    tl.store(values_ptr + out, least, mask=column < inner)
    tl.store(indices_ptr + out, index.to(indices_ptr.dtype.element_ty), mask=column < inner)


@triton.jit
def _combine_kernel(
    partial_ptr,
    where_ptr,
    values_ptr,
    indices_ptr,
    outputs,
    splits,
    SPLITS: tl.constexpr,
    COLS: tl.constexpr,
):
    out = tl.program_id(0) * COLS + tl.arange(0, COLS)
    split = tl.arange(0, SPLITS)
    mask = (split < splits)[:, None] & (out < outputs)[None, :]
    offsets = split[:, None] * outputs + out[None, :]
    best = tl.load(partial_ptr + offsets, mask=mask, other=float("inf"))
    where = tl.load(where_ptr + offsets, mask=mask, other=NOWHERE)
    least = tl.min(best, axis=0)
    index = tl.min(tl.where(best == least[None, :], where, NOWHERE), axis=0)
    tl.store(values_ptr + out, least, mask=out < outputs)
    tl.store(indices_ptr + out, index.to(tl.int64), mask=out < outputs)


def min_with_index(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    batch, length, inner = x.shape
    values = torch.empty((batch, inner), dtype=torch.float32, device=x.device)
    indices = torch.empty((batch, inner), dtype=torch.int64, device=x.device)
    strip = min(triton.next_power_of_2(inner), 128)
    tile_rows = min(triton.next_power_of_2(length), TILE // strip)
    strips = triton.cdiv(inner, strip)
    splits = min(triton.cdiv(length, tile_rows), max(1, PROGRAMS // (strips * batch)))
    height = triton.cdiv(triton.cdiv(length, splits), tile_rows) * tile_rows
    splits = triton.cdiv(length, height)
    grid = (batch, strips, splits)
    if splits == 1:
        _min_kernel[grid](
            x, values, indices, length, inner, height, ROWS=tile_rows, COLS=strip, num_warps=4
        )
        return values, indices
    partial = torch.empty((splits, batch, inner), dtype=torch.float32, device=x.device)
    where = torch.empty((splits, batch, inner), dtype=torch.int32, device=x.device)
    _min_kernel[grid](
        x, partial, where, length, inner, height, ROWS=tile_rows, COLS=strip, num_warps=4
    )
    blocks = triton.next_power_of_2(splits)
    cols = max(1, min(32, TILE // blocks))
    outputs = batch * inner
    _combine_kernel[(triton.cdiv(outputs, cols),)](
        partial, where, values, indices, outputs, splits, SPLITS=blocks, COLS=cols, num_warps=4
    )
    return values, indices
