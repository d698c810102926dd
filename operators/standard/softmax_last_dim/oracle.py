"""The kernels compute the softmax of each row. A row that fits in registers is read once. A longer
row is read twice: first to compute a running maximum and a rescaled sum, and then to compute the
results."""

import torch
import triton
import triton.language as tl

MAX_IN_REGISTERS = 32768


@triton.jit
def _one_block_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    columns = tl.arange(0, BLOCK)
    mask = columns < cols
    x = tl.load(x_ptr + start + columns, mask=mask, other=-float("inf")).to(tl.float32)
    weight = tl.exp(x - tl.max(x, axis=0))
    y = weight * (1.0 / tl.sum(weight, axis=0))
    tl.store(y_ptr + start + columns, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _online_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    columns = tl.arange(0, BLOCK)
    # Each lane has its own maximum and sum, which are combined once at the end. The maximum starts
    # with a finite value, so that entries of -inf have the weight exp(-inf) = 0 and not NaN.
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
    scale = 1.0 / tl.sum(total * tl.exp(greatest - row_max), axis=0)
    for first in range(0, cols, BLOCK):
        mask = first + columns < cols
        x = tl.load(x_ptr + start + first + columns, mask=mask, other=-float("inf")).to(tl.float32)
        tl.store(
            y_ptr + start + first + columns,
            (tl.exp(x - row_max) * scale).to(y_ptr.dtype.element_ty),
            mask=mask,
        )


def softmax_last_dim(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    rows, cols = x.shape
    if cols > MAX_IN_REGISTERS:
        _online_kernel[(rows,)](x, y, cols, BLOCK=8192, num_warps=16)
        return y
    block = triton.next_power_of_2(cols)
    warps = 4 if block <= 2048 else 8 if block <= 4096 else 16
    _one_block_kernel[(rows,)](x, y, cols, BLOCK=block, num_warps=warps)
    return y
