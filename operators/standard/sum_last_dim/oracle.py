"""Each program computes the row sums of a tile of rows x columns. Several short rows share a
program, and long rows are split over programs.

The partial sums of the splits are a small matrix. A second launch of the same kernel sums this
matrix. There are no atomics, so the result is the same in every run."""

import torch
import triton
import triton.language as tl

TILE = 4096
PROGRAMS = 528  # four programs for each SM of the largest GPU


@triton.jit
def _sum_kernel(x_ptr, out_ptr, rows, cols, width, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    split = tl.program_id(1)
    first = split * width
    last = tl.minimum(first + width, cols)
    base = x_ptr + row.to(tl.int64)[:, None] * cols
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(first, last, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (column < last)[None, :]
        total += tl.load(base + column[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * tl.num_programs(1) + split, tl.sum(total, axis=1), mask=row < rows)


def _cut(rows: int, cols: int) -> tuple[int, int, int, int]:
    """Returns (rows per tile, columns per tile, columns per split, number of splits). If there are
    few rows, each row is split, so that there are enough programs."""
    block = min(triton.next_power_of_2(cols), TILE)
    tile_rows = min(triton.next_power_of_2(rows), TILE // block)
    splits = min(triton.cdiv(cols, block), max(1, PROGRAMS // triton.cdiv(rows, tile_rows)))
    width = triton.cdiv(triton.cdiv(cols, splits), block) * block
    return tile_rows, block, width, triton.cdiv(cols, width)


def _sum(
    x: torch.Tensor,
    out: torch.Tensor,
    rows: int,
    cols: int,
    tile_rows: int,
    block: int,
    width: int,
    splits: int,
) -> None:
    grid = (triton.cdiv(rows, tile_rows), splits)
    _sum_kernel[grid](x, out, rows, cols, width, ROWS=tile_rows, BLOCK=block, num_warps=4)


def sum_last_dim(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((rows,), dtype=torch.float32, device=x.device)
    tile_rows, block, width, splits = _cut(rows, cols)
    if splits == 1:
        _sum(x, y, rows, cols, tile_rows, block, width, 1)
        return y
    partial = torch.empty((rows, splits), dtype=torch.float32, device=x.device)
    _sum(x, partial, rows, cols, tile_rows, block, width, splits)
    _sum(partial, y, rows, splits, 1, triton.next_power_of_2(splits), splits, 1)
    return y
