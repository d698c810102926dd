"""The kernel quantises rows to float8. A row stays in registers, so the kernel reads it once for
both the maximum and the values.

There is one IEEE division per row, and one multiplication by the reciprocal per element. This
multiplication is exact enough: ties occur only if the scale is a power of two, and then the
reciprocal is exact."""

import torch
import triton
import triton.language as tl


@triton.jit
def _quant_kernel(x_ptr, values_ptr, scale_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start = row.to(tl.int64) * cols
    columns = tl.arange(0, BLOCK)
    mask = columns < cols
    x = tl.load(x_ptr + start + columns, mask=mask, other=0.0).to(tl.float32)
    greatest = tl.max(tl.abs(x), axis=0)
    tl.store(scale_ptr + row, tl.div_rn(greatest, 448.0))
    inverse = tl.where(greatest > 0.0, tl.div_rn(448.0, tl.maximum(greatest, 1e-30)), 0.0)
    tl.store(values_ptr + start + columns, (x * inverse).to(tl.float8e4nv), mask=mask)


def fp8_quant_per_token(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    values = torch.empty((rows, cols), dtype=torch.float8_e4m3fn, device=x.device)
    scale = torch.empty((rows,), dtype=torch.float32, device=x.device)
    block = triton.next_power_of_2(cols)
    warps = 4 if block <= 4096 else 8 if block <= 8192 else 16
    _quant_kernel[(rows,)](x, values, scale, cols, BLOCK=block, num_warps=warps)
    return values, scale
