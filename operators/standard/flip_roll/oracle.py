"""The kernel reverses and rotates rows. A thread cannot read descending elements with one 16-byte
load, so each lane loads one element of a block. The lanes of a warp read neighbouring elements, so
the loads still use whole cache lines.

Four blocks are loaded before the first block is stored, which keeps enough bytes in flight. If the
matrix is narrow, a block contains several rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def _reversed(row_ptr, column, mask, cols, shift):
    source = cols - 1 - column + shift
    return tl.load(
        row_ptr + tl.where(source >= cols, source - cols, source), mask=mask & (column < cols)
    )


@triton.jit
def _flip_roll_kernel(x_ptr, y_ptr, rows, cols, shift, LANES: tl.constexpr, WIDTH: tl.constexpr):
    tiles = tl.cdiv(cols, 4 * WIDTH)
    lane = tl.arange(0, LANES)
    row = (tl.program_id(0) // tiles) * (LANES // WIDTH) + lane // WIDTH
    mask = row < rows
    start = row.to(tl.int64) * cols
    c0 = (tl.program_id(0) % tiles) * (4 * WIDTH) + lane % WIDTH
    c1 = c0 + WIDTH
    c2 = c1 + WIDTH
    c3 = c2 + WIDTH
    v0 = _reversed(x_ptr + start, c0, mask, cols, shift)
    v1 = _reversed(x_ptr + start, c1, mask, cols, shift)
    v2 = _reversed(x_ptr + start, c2, mask, cols, shift)
    v3 = _reversed(x_ptr + start, c3, mask, cols, shift)
    tl.store(y_ptr + start + c0, v0, mask=mask & (c0 < cols))
    tl.store(y_ptr + start + c1, v1, mask=mask & (c1 < cols))
    tl.store(y_ptr + start + c2, v2, mask=mask & (c2 < cols))
    tl.store(y_ptr + start + c3, v3, mask=mask & (c3 < cols))


def flip_roll(x: torch.Tensor, shift: int) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty_like(x)
    lanes = 256
    width = max(1, min(lanes, triton.next_power_of_2(cols) // 4))
    grid = (triton.cdiv(rows, lanes // width) * triton.cdiv(cols, 4 * width),)
    _flip_roll_kernel[grid](
        x, y, rows, cols, shift % cols, LANES=lanes, WIDTH=width, num_warps=lanes // 32
    )
    return y
