"""The kernel transposes square tiles. Loads are contiguous along rows of x, and stores are
contiguous along rows of y. Loads and stores both use whole 128-byte lines. In between, the compiler
transposes the tile in shared memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def _transpose_kernel(x_ptr, y_ptr, rows, cols, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    tiles_c = tl.cdiv(cols, BLOCK_C)
    row = (tl.program_id(0) // tiles_c) * BLOCK_R + tl.arange(0, BLOCK_R)
    column = (tl.program_id(0) % tiles_c) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (row < rows)[:, None] & (column < cols)[None, :]
    tile = tl.load(x_ptr + row.to(tl.int64)[:, None] * cols + column[None, :], mask=mask)
    tl.store(
        y_ptr + column.to(tl.int64)[:, None] * rows + row[None, :],
        tl.trans(tile),
        mask=tl.trans(mask),
    )


def transpose2d(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((cols, rows), dtype=x.dtype, device=x.device)
    block_r = min(64, triton.next_power_of_2(rows))
    block_c = min(64, triton.next_power_of_2(cols))
    # For a narrow matrix, the tiles have the matrix's width and more rows instead.
    if block_c < 64:
        block_r = min(4096 // block_c, triton.next_power_of_2(rows))
    elif block_r < 64:
        block_c = min(4096 // block_r, triton.next_power_of_2(cols))
    grid = (triton.cdiv(rows, block_r) * triton.cdiv(cols, block_c),)
    _transpose_kernel[grid](
        x,
        y,
        rows,
        cols,
        BLOCK_R=block_r,
        BLOCK_C=block_c,
        num_warps=8 if x.dtype == torch.float32 else 4,
    )
    return y
