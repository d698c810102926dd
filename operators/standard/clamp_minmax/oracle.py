"""Each program clamps a tile of several rows with bounds per column. It loads the bounds once for
all rows of the tile.

The kernel uses comparisons instead of min and max. Both comparisons are false for a NaN, so a NaN
passes through."""

import torch
import triton
import triton.language as tl


@triton.jit
def _clamp_kernel(
    x_ptr, lo_ptr, hi_ptr, y_ptr, rows, cols, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr
):
    tiles_c = tl.cdiv(cols, BLOCK_C)
    row = (tl.program_id(0) // tiles_c) * BLOCK_R + tl.arange(0, BLOCK_R)
    column = (tl.program_id(0) % tiles_c) * BLOCK_C + tl.arange(0, BLOCK_C)
    inside = column < cols
    mask = (row < rows)[:, None] & inside[None, :]
    offsets = row.to(tl.int64)[:, None] * cols + column[None, :]
    x = tl.load(x_ptr + offsets, mask=mask)
    lo = tl.load(lo_ptr + column, mask=inside)[None, :]
    hi = tl.load(hi_ptr + column, mask=inside)[None, :]
    y = tl.where(x < lo, lo, x)
    tl.store(y_ptr + offsets, tl.where(y > hi, hi, y), mask=mask)


def clamp_minmax(x: torch.Tensor, lo: torch.Tensor, hi: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    rows, cols = x.shape
    block_c = min(512, triton.next_power_of_2(cols))
    block_r = min(4096 // block_c, triton.next_power_of_2(rows))
    grid = (triton.cdiv(rows, block_r) * triton.cdiv(cols, block_c),)
    _clamp_kernel[grid](
        x,
        lo,
        hi,
        y,
        rows,
        cols,
        BLOCK_R=block_r,
        BLOCK_C=block_c,
        num_warps=8 if block_r * block_c >= 2048 else 4,
    )
    return y
