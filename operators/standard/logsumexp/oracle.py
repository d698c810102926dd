"""Each program computes logsumexp for a tile of rows x columns. Several short rows share a program.
Long rows are split over programs, and a second kernel merges the splits.

A row that fits in one tile needs one exponential per entry. For a longer row, each lane keeps a
maximum and a sum, which needs two exponentials per entry."""

import torch
import triton
import triton.language as tl

TILE = 4096
PROGRAMS = 528  # four programs for each SM of the largest GPU
# The start value of a maximum. It is finite, so that a lane or a row of -inf has the weight
# exp(-inf) = 0 and not NaN.
LOWEST = tl.constexpr(-3.0e38)


@triton.jit
def _rows_kernel(
    x_ptr,
    greatest_ptr,
    sum_ptr,
    rows,
    cols,
    width,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    ONE: tl.constexpr,
    LAST: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    split = tl.program_id(1)
    first = split * width
    last = tl.minimum(first + width, cols)
    base = x_ptr + row.to(tl.int64)[:, None] * cols
    if ONE:
        column = first + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (column < last)[None, :]
        x = tl.load(base + column[None, :], mask=mask, other=-float("inf")).to(tl.float32)
        top = tl.maximum(tl.max(x, axis=1), LOWEST)
        total = tl.sum(tl.exp(x - top[:, None]), axis=1)
    else:
        greatest = tl.full((ROWS, BLOCK), LOWEST, tl.float32)
        sums = tl.zeros((ROWS, BLOCK), tl.float32)
        for start in range(first, last, BLOCK):
            column = start + tl.arange(0, BLOCK)
            mask = (row < rows)[:, None] & (column < last)[None, :]
            x = tl.load(base + column[None, :], mask=mask, other=-float("inf")).to(tl.float32)
            new = tl.maximum(greatest, x)
            sums = sums * tl.exp(greatest - new) + tl.exp(x - new)
            greatest = new
        top = tl.max(greatest, axis=1)
        total = tl.sum(sums * tl.exp(greatest - top[:, None]), axis=1)
    out = row * tl.num_programs(1) + split
    if LAST:
        tl.store(sum_ptr + out, top + tl.log(total), mask=row < rows)
    else:
        tl.store(greatest_ptr + out, top, mask=row < rows)
        tl.store(sum_ptr + out, total, mask=row < rows)


@triton.jit
def _combine_kernel(greatest_ptr, sum_ptr, y_ptr, splits, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    split = tl.arange(0, BLOCK)
    greatest = tl.load(greatest_ptr + row * splits + split, mask=split < splits, other=LOWEST)
    sums = tl.load(sum_ptr + row * splits + split, mask=split < splits, other=0.0)
    top = tl.max(greatest, axis=0)
    tl.store(y_ptr + row, top + tl.log(tl.sum(sums * tl.exp(greatest - top), axis=0)))


def _cut(rows: int, cols: int) -> tuple[int, int, int, int]:
    """Returns (rows per tile, columns per tile, columns per split, number of splits). If there are
    few rows, each row is split, so that there are enough programs."""
    block = min(triton.next_power_of_2(cols), TILE)
    tile_rows = min(triton.next_power_of_2(rows), TILE // block)
    splits = min(triton.cdiv(cols, block), max(1, PROGRAMS // triton.cdiv(rows, tile_rows)))
    width = triton.cdiv(triton.cdiv(cols, splits), block) * block
    return tile_rows, block, width, triton.cdiv(cols, width)


def logsumexp(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((rows,), dtype=torch.float32, device=x.device)
    tile_rows, block, width, splits = _cut(rows, cols)
    grid = (triton.cdiv(rows, tile_rows), splits)
    one = width == block
    if splits == 1:
        _rows_kernel[grid](
            x, y, y, rows, cols, width, ROWS=tile_rows, BLOCK=block, ONE=one, LAST=True, num_warps=4
        )
        return y
    greatest = torch.empty((rows, splits), dtype=torch.float32, device=x.device)
    sums = torch.empty((rows, splits), dtype=torch.float32, device=x.device)
    _rows_kernel[grid](
        x,
        greatest,
        sums,
        rows,
        cols,
        width,
        ROWS=tile_rows,
        BLOCK=block,
        ONE=one,
        LAST=False,
        num_warps=4,
    )
    _combine_kernel[(rows,)](
        greatest, sums, y, splits, BLOCK=triton.next_power_of_2(splits), num_warps=4
    )
    return y
