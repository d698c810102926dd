"""Each program computes a tile of about 8192 values. A thread reads 16 int8 values in one access
and writes the results as two vectors of float16."""

import torch
import triton
import triton.language as tl

TILE = 8192


@triton.jit
def _dequant_kernel(
    values_ptr, scale_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLS + tl.arange(0, COLS)
    mask = (row < rows)[:, None] & (column < cols)[None, :]
    scale = tl.load(scale_ptr + row, mask=row < rows, other=0.0)
    at = row.to(tl.int64)[:, None] * cols + column[None, :]
    values = tl.load(values_ptr + at, mask=mask, other=0)
    tl.store(y_ptr + at, (values.to(tl.float32) * scale[:, None]).to(tl.float16), mask=mask)


def dequant_int8_rowwise(values: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    rows, cols = values.shape
    y = torch.empty((rows, cols), dtype=torch.float16, device=values.device)
    block_cols = min(4096, triton.next_power_of_2(cols))
    block_rows = min(TILE // block_cols, triton.next_power_of_2(rows))
    grid = (triton.cdiv(rows, block_rows), triton.cdiv(cols, block_cols))
    _dequant_kernel[grid](
        values, scale, y, rows, cols, ROWS=block_rows, COLS=block_cols, num_warps=8
    )
    return y
