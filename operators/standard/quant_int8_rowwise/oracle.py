"""The kernel quantises rows to int8. A row stays in registers, so the kernel reads it once for both
the maximum and the values.

There is one IEEE division per row, and one multiplication by the reciprocal per element. With a
correctly rounded division per element, arithmetic would limit the speed. The multiplication is
exact enough: ties occur only if the scale is a power of two, and then the reciprocal is exact."""

import torch
import triton
import triton.language as tl

# The value is 1.5 * 2^23. A float32 of this size has no fraction bits. So adding the value to a
# small float and subtracting it again rounds the float to an integer, ties to even.
ROUND_MAGIC: tl.constexpr = tl.constexpr(12582912.0)


@triton.jit
def _quant_kernel(x_ptr, values_ptr, scale_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start = row.to(tl.int64) * cols
    columns = tl.arange(0, BLOCK)
    mask = columns < cols
    x = tl.load(x_ptr + start + columns, mask=mask, other=0.0).to(tl.float32)
    greatest = tl.max(tl.abs(x), axis=0)
    tl.store(scale_ptr + row, tl.div_rn(greatest, 127.0))
    inverse = tl.where(greatest > 0.0, tl.div_rn(127.0, tl.maximum(greatest, 1e-30)), 0.0)
    rounded = (x * inverse + ROUND_MAGIC) - ROUND_MAGIC
    tl.store(values_ptr + start + columns, rounded.to(tl.int8), mask=mask)


def quant_int8_rowwise(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    values = torch.empty((rows, cols), dtype=torch.int8, device=x.device)
    scale = torch.empty((rows,), dtype=torch.float32, device=x.device)
    block = triton.next_power_of_2(cols)
    warps = 4 if block <= 4096 else 8 if block <= 8192 else 16
    _quant_kernel[(rows,)](x, values, scale, cols, BLOCK=block, num_warps=warps)
    return values, scale
