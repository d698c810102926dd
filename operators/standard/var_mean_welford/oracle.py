"""Every lane computes Welford's update for its own entries, so x is read once and no lane waits for
another lane. All lanes of a tile have processed the same number of entries, so one reciprocal of
this number serves all lanes. The results of the lanes are merged at the end, and a second kernel
merges the splits of a long row."""

import torch
import triton
import triton.language as tl

TILE = 4096
PROGRAMS = 528  # four programs for each SM of the largest GPU


@triton.jit
def _merge(counts, means, squares, total):
    """Merges the means and the sums of squared deviations of pieces along axis 1. The pieces were
    reduced separately."""
    mean = tl.sum(counts * means, axis=1) / total
    apart = means - mean[:, None]
    return mean, tl.sum(squares + counts * apart * apart, axis=1)


@triton.jit
def _rows_kernel(
    x_ptr,
    squares_ptr,
    means_ptr,
    rows,
    cols,
    width,
    divisor,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    split = tl.program_id(1)
    first = split * width
    last = tl.minimum(first + width, cols)
    lane = tl.arange(0, BLOCK)
    base = x_ptr + row.to(tl.int64)[:, None] * cols
    mean = tl.zeros((ROWS, BLOCK), tl.float32)
    squares = tl.zeros((ROWS, BLOCK), tl.float32)
    seen = 0.0
    for start in range(first, last, BLOCK):
        column = start + lane
        mask = (row < rows)[:, None] & (column < last)[None, :]
        x = tl.load(base + column[None, :], mask=mask, other=0.0)
        seen += 1.0
        apart = tl.where(mask, x - mean, 0.0)
        mean += apart * (1.0 / seen)
        squares += apart * (x - mean)
    counts = ((last - first - lane + BLOCK - 1) // BLOCK).to(tl.float32)[None, :]
    row_mean, row_squares = _merge(counts, mean, squares, last - first)
    out = row * tl.num_programs(1) + split
    tl.store(means_ptr + out, row_mean, mask=row < rows)
    tl.store(squares_ptr + out, row_squares / divisor, mask=row < rows)


@triton.jit
def _combine_kernel(
    squares_ptr, means_ptr, var_ptr, mean_ptr, cols, width, splits, divisor, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    split = tl.arange(0, BLOCK)[None, :]
    counts = tl.maximum(tl.minimum(cols - split * width, width), 0).to(tl.float32)
    squares = tl.load(squares_ptr + row * splits + split, mask=split < splits, other=0.0)
    means = tl.load(means_ptr + row * splits + split, mask=split < splits, other=0.0)
    mean, total = _merge(counts, means, squares, cols)
    out = row + tl.arange(0, 1)
    tl.store(mean_ptr + out, mean)
    tl.store(var_ptr + out, total / divisor)


def _cut(rows: int, cols: int) -> tuple[int, int, int, int]:
    """Returns (rows per tile, columns per tile, columns per split, number of splits). If there are
    few rows, each row is split, so that there are enough programs."""
    block = min(triton.next_power_of_2(cols), TILE)
    tile_rows = min(triton.next_power_of_2(rows), TILE // block)
    splits = min(triton.cdiv(cols, block), max(1, PROGRAMS // triton.cdiv(rows, tile_rows)))
    width = triton.cdiv(triton.cdiv(cols, splits), block) * block
    return tile_rows, block, width, triton.cdiv(cols, width)


def var_mean_welford(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    var = torch.empty((rows,), dtype=torch.float32, device=x.device)
    mean = torch.empty((rows,), dtype=torch.float32, device=x.device)
    tile_rows, block, width, splits = _cut(rows, cols)
    grid = (triton.cdiv(rows, tile_rows), splits)
    if splits == 1:
        _rows_kernel[grid](
            x, var, mean, rows, cols, width, cols - 1.0, ROWS=tile_rows, BLOCK=block, num_warps=8
        )
        return var, mean
    squares = torch.empty((rows, splits), dtype=torch.float32, device=x.device)
    means = torch.empty((rows, splits), dtype=torch.float32, device=x.device)
    _rows_kernel[grid](
        x, squares, means, rows, cols, width, 1.0, ROWS=tile_rows, BLOCK=block, num_warps=8
    )
    pieces = triton.next_power_of_2(splits)
    _combine_kernel[(rows,)](
        squares, means, var, mean, cols, width, splits, cols - 1.0, BLOCK=pieces, num_warps=4
    )
    return var, mean
