"""tl.advance moves a block pointer along a row. Each program computes the range (largest minus smallest) of the rows of a tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def _range_kernel(x_ptr, out_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    first = tl.program_id(0) * ROWS
    tile = tl.make_block_ptr(x_ptr, (rows, cols), (cols, 1), (first, 0), (ROWS, COLS), (1, 0))
    low = tl.full([ROWS, COLS], float("inf"), tl.float32)
    high = tl.full([ROWS, COLS], -float("inf"), tl.float32)
    for start in range(0, cols, COLS):
        x = tl.load(tile, boundary_check=(0, 1))
        valid = (start + tl.arange(0, COLS) < cols)[None, :]
        low = tl.where(valid, tl.minimum(low, x), low)
        high = tl.where(valid, tl.maximum(high, x), high)
        tile = tl.advance(tile, (0, COLS))
    row = first + tl.arange(0, ROWS)
    tl.store(out_ptr + row, tl.max(high, axis=1) - tl.min(low, axis=1), mask=row < rows)


def row_range(x):
    out = torch.empty(x.shape[0], device=x.device)
    _range_kernel[(triton.cdiv(x.shape[0], 8),)](x, out, *x.shape, ROWS=8, COLS=32)
    return out


def check():
    x = torch.randn(11, 70) + 3
    torch.testing.assert_close(row_range(x), x.amax(1) - x.amin(1))
