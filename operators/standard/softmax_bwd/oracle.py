"""The kernels compute the backward pass of softmax. Rows that fit in registers are read once, and
several short rows share a program. Longer rows are read twice: first for the sum, and then for the
result."""

import torch
import triton
import triton.language as tl

MAX_IN_REGISTERS = 16384


@triton.jit
def _tile_kernel(dy_ptr, y_ptr, dx_ptr, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    mask = (row < rows)[:, None] & (column < cols)[None, :]
    offsets = row.to(tl.int64)[:, None] * cols + column[None, :]
    dy = tl.load(dy_ptr + offsets, mask=mask, other=0.0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
    dot = tl.sum(dy * y, axis=1)
    tl.store(dx_ptr + offsets, (dy - dot[:, None]) * y, mask=mask)


@triton.jit
def _two_pass_kernel(dy_ptr, y_ptr, dx_ptr, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    columns = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        mask = first + columns < cols
        dy = tl.load(dy_ptr + start + first + columns, mask=mask, other=0.0)
        total += dy * tl.load(y_ptr + start + first + columns, mask=mask, other=0.0)
    dot = tl.sum(total, axis=0)
    for first in range(0, cols, BLOCK):
        mask = first + columns < cols
        dy = tl.load(dy_ptr + start + first + columns, mask=mask, other=0.0)
        y = tl.load(y_ptr + start + first + columns, mask=mask, other=0.0)
        tl.store(dx_ptr + start + first + columns, (dy - dot) * y, mask=mask)


def softmax_bwd(dy: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    rows, cols = dy.shape
    dx = torch.empty_like(dy)
    block = triton.next_power_of_2(cols)
    if block > MAX_IN_REGISTERS:
        _two_pass_kernel[(rows,)](dy, y, dx, cols, BLOCK=8192, num_warps=16)
        return dx
    tile_rows = min(triton.next_power_of_2(rows), max(1, 1024 // block))
    warps = 4 if block <= 1024 else 8 if block <= 4096 else 16
    _tile_kernel[(triton.cdiv(rows, tile_rows),)](
        dy, y, dx, rows, cols, ROWS=tile_rows, BLOCK=block, num_warps=warps
    )
    return dx
