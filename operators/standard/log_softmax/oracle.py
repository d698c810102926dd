"""The kernel computes the log-softmax of each row. A row that fits in registers is read once. A
longer row is read twice. The first pass computes a maximum and a rescaled sum per lane, and the
second pass computes the results."""

import torch
import triton
import triton.language as tl

MAX_IN_REGISTERS = 16384


@triton.jit
def _tile_kernel(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    mask = (row < rows)[:, None] & (column < cols)[None, :]
    offsets = row.to(tl.int64)[:, None] * cols + column[None, :]
    x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    # Rows past the end are loaded as -inf. Their maximum is raised to a finite value, so that the
    # difference does not become NaN.
    centred = x - tl.maximum(tl.max(x, axis=1), -3.0e38)[:, None]
    y = centred - tl.log(tl.sum(tl.exp(centred), axis=1))[:, None]
    tl.store(y_ptr + offsets, y, mask=mask)


@triton.jit
def _online_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    columns = tl.arange(0, BLOCK)
    greatest = tl.full((BLOCK,), -3.0e38, tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        x = tl.load(
            x_ptr + start + first + columns, mask=first + columns < cols, other=-float("inf")
        ).to(tl.float32)
        new = tl.maximum(greatest, x)
        total = total * tl.exp(greatest - new) + tl.exp(x - new)
        greatest = new
    row_max = tl.max(greatest, axis=0)
    log_sum = tl.log(tl.sum(total * tl.exp(greatest - row_max), axis=0))
    for first in range(0, cols, BLOCK):
        mask = first + columns < cols
        x = tl.load(x_ptr + start + first + columns, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + start + first + columns, (x - row_max) - log_sum, mask=mask)


def log_softmax(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty((rows, cols), dtype=torch.float32, device=x.device)
    block = triton.next_power_of_2(cols)
    if block > MAX_IN_REGISTERS:
        _online_kernel[(rows,)](x, y, cols, BLOCK=8192, num_warps=16)
        return y
    tile_rows = min(triton.next_power_of_2(rows), max(1, 1024 // block))
    warps = 4 if block <= 2048 else 8 if block <= 4096 else 16
    _tile_kernel[(triton.cdiv(rows, tile_rows),)](
        x, y, rows, cols, ROWS=tile_rows, BLOCK=block, num_warps=warps
    )
    return y
