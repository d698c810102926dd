"""Each program computes a tile of rows x columns. Each lane keeps its largest entry and the first
column of that entry, and one reduction follows at the end.

Several short rows share a program. Long rows are split over programs, and a second kernel chooses
the largest result of a row's splits. A lane that finds no entry above -inf keeps its first column,
so a row of -inf gets index 0 without a special case."""

import torch
import triton
import triton.language as tl

TILE = 4096
PROGRAMS = 528  # four programs for each SM of the largest GPU
NOWHERE = tl.constexpr(2147483647)


@triton.jit
def _first_of_greatest(values, indices):
    greatest = tl.max(values, axis=1)
    return greatest, tl.min(tl.where(values == greatest[:, None], indices, NOWHERE), axis=1)


@triton.jit
def _argmax_kernel(
    x_ptr, values_ptr, indices_ptr, rows, cols, width, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    split = tl.program_id(1)
    first = split * width
    last = tl.minimum(first + width, cols)
    base = x_ptr + row.to(tl.int64)[:, None] * cols
    best = tl.full((ROWS, BLOCK), -float("inf"), tl.float32)
    where = tl.zeros((ROWS, BLOCK), tl.int32) + (first + tl.arange(0, BLOCK))[None, :]
    for start in range(first, last, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (column < last)[None, :]
        x = tl.load(base + column[None, :], mask=mask, other=-float("inf"))
        better = x > best
        best = tl.where(better, x, best)
        where = tl.where(better, column[None, :], where)
    greatest, index = _first_of_greatest(best, where)
    out = row * tl.num_programs(1) + split
    tl.store(values_ptr + out, greatest, mask=row < rows)
    tl.store(indices_ptr + out, index.to(indices_ptr.dtype.element_ty), mask=row < rows)


@triton.jit
def _tiles_kernel(
    x_ptr,
    values_ptr,
    indices_ptr,
    rows,
    cols,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    STAGES: tl.constexpr,
):
    # Each row fits in one block, so a tile is reduced at once and lanes keep no values from tile to
    # tile. The next tiles are copied into shared memory while this tile is reduced.
    column = tl.arange(0, BLOCK)[None, :]
    for tile in tl.range(
        tl.program_id(0), tl.cdiv(rows, ROWS), tl.num_programs(0), num_stages=STAGES
    ):
        row = tile * ROWS + tl.arange(0, ROWS)
        mask = (row < rows)[:, None] & (column < cols)
        x = tl.load(
            x_ptr + row.to(tl.int64)[:, None] * cols + column, mask=mask, other=-float("inf")
        )
        greatest = tl.max(x, axis=1)
        # If several columns contain the largest entry, takes the first of them. In a row of -inf
        # this is column 0.
        index = tl.min(tl.where(x == greatest[:, None], column, NOWHERE), axis=1)
        tl.store(values_ptr + row, greatest, mask=row < rows)
        tl.store(indices_ptr + row, index.to(tl.int64), mask=row < rows)


@triton.jit
def _combine_kernel(partial_ptr, where_ptr, values_ptr, indices_ptr, splits, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    split = tl.arange(0, BLOCK)[None, :]
    best = tl.load(partial_ptr + row * splits + split, mask=split < splits, other=-float("inf"))
    where = tl.load(where_ptr + row * splits + split, mask=split < splits, other=NOWHERE)
    greatest, index = _first_of_greatest(best, where)
    out = row + tl.arange(0, 1)
    tl.store(values_ptr + out, greatest)
    tl.store(indices_ptr + out, index.to(tl.int64))


def _cut(rows: int, cols: int) -> tuple[int, int, int, int]:
    """Returns (rows per tile, columns per tile, columns per split, number of splits). If there are
    few rows, each row is split, so that there are enough programs."""
    block = min(triton.next_power_of_2(cols), TILE)
    tile_rows = min(triton.next_power_of_2(rows), TILE // block)
    splits = min(triton.cdiv(cols, block), max(1, PROGRAMS // triton.cdiv(rows, tile_rows)))
    width = triton.cdiv(triton.cdiv(cols, splits), block) * block
    return tile_rows, block, width, triton.cdiv(cols, width)


def argmax_last_dim(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    values = torch.empty((rows,), dtype=torch.float32, device=x.device)
    indices = torch.empty((rows,), dtype=torch.int64, device=x.device)
    tile_rows, block, width, splits = _cut(rows, cols)
    if cols <= block:
        tile_rows = min(triton.next_power_of_2(rows), max(1, 4096 // block))
        tiles = triton.cdiv(rows, tile_rows)
        _tiles_kernel[(tiles,)](
            x, values, indices, rows, cols, ROWS=tile_rows, BLOCK=block, STAGES=1, num_warps=8
        )
        return values, indices
    grid = (triton.cdiv(rows, tile_rows), splits)
    if splits == 1:
        _argmax_kernel[grid](
            x, values, indices, rows, cols, width, ROWS=tile_rows, BLOCK=block, num_warps=4
        )
        return values, indices
    partial = torch.empty((rows, splits), dtype=torch.float32, device=x.device)
    where = torch.empty((rows, splits), dtype=torch.int32, device=x.device)
    _argmax_kernel[grid](
        x, partial, where, rows, cols, width, ROWS=tile_rows, BLOCK=block, num_warps=4
    )
    _combine_kernel[(rows,)](
        partial, where, values, indices, splits, BLOCK=triton.next_power_of_2(splits), num_warps=4
    )
    return values, indices
