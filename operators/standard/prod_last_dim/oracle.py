"""Each program computes the row products of a tile of rows x columns. Each lane multiplies its own
entries, and one reduction over the lanes follows at the end. Several short rows share a program,
and long rows are split over programs.

The partial products of the splits are a small matrix. A second launch of the same kernel reduces
this matrix, so the result is the same in every run."""

import torch
import triton
import triton.language as tl

TILE = 4096
PROGRAMS = 528  # four programs for each SM of the largest GPU


@triton.jit
def _multiply(a, b):
    return a * b


@triton.jit
def _product_kernel(x_ptr, out_ptr, rows, cols, width, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    split = tl.program_id(1)
    first = split * width
    last = tl.minimum(first + width, cols)
    base = x_ptr + row.to(tl.int64)[:, None] * cols
    product = tl.full((ROWS, BLOCK), 1.0, tl.float32)
    for start in range(first, last, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = (row < rows)[:, None] & (column < last)[None, :]
        product *= tl.load(base + column[None, :], mask=mask, other=1.0)
    tl.store(
        out_ptr + row * tl.num_programs(1) + split,
        tl.reduce(product, 1, _multiply),
        mask=row < rows,
    )


def _cut(rows: int, cols: int) -> tuple[int, int, int, int]:
    """Returns (rows per tile, columns per tile, columns per split, number of splits). If there are
    few rows, each row is split, so that there are enough programs."""
    block = min(triton.next_power_of_2(cols), TILE)
    tile_rows = min(triton.next_power_of_2(rows), TILE // block)
    splits = min(triton.cdiv(cols, block), max(1, PROGRAMS // triton.cdiv(rows, tile_rows)))
    width = triton.cdiv(triton.cdiv(cols, splits), block) * block
    return tile_rows, block, width, triton.cdiv(cols, width)


def _product(
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
    _product_kernel[grid](x, out, rows, cols, width, ROWS=tile_rows, BLOCK=block, num_warps=4)


def prod_last_dim(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((rows,), dtype=torch.float32, device=x.device)
    tile_rows, block, width, splits = _cut(rows, cols)
    if splits == 1:
        _product(x, y, rows, cols, tile_rows, block, width, 1)
        return y
    partial = torch.empty((rows, splits), dtype=torch.float32, device=x.device)
    _product(x, partial, rows, cols, tile_rows, block, width, splits)
    _product(partial, y, rows, splits, 1, triton.next_power_of_2(splits), splits, 1)
    return y
