"""The kernel computes the modulated layer norm of a row in registers, with one read and one write.
The rows of a sample are consecutive, so scale and shift stay in the caches."""

import torch
import triton
import triton.language as tl


@triton.jit
def _modulate_kernel(x_ptr, scale_ptr, shift_ptr, y_ptr, seq, dim, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < dim
    start = row.to(tl.int64) * dim
    sample = (row // seq).to(tl.int64) * dim
    x = tl.load(x_ptr + start + columns, mask=mask, other=0.0).to(tl.float32)
    # Loads scale and shift before the reductions, so that these cache accesses overlap with the
    # reductions.
    scale = tl.load(scale_ptr + sample + columns, mask=mask, other=0.0).to(tl.float32)
    shift = tl.load(shift_ptr + sample + columns, mask=mask, other=0.0).to(tl.float32)
    centred = tl.where(mask, x - tl.sum(x, axis=0) / dim, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / dim + eps)
    y = centred * rstd * (1.0 + scale) + shift
    tl.store(y_ptr + start + columns, y.to(y_ptr.dtype.element_ty), mask=mask)


def adaln_modulate(
    x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor, eps: float
) -> torch.Tensor:
    y = torch.empty_like(x)
    batch, seq, dim = x.shape
    block = triton.next_power_of_2(dim)
    warps = (
        1
        if block <= 512
        else 2
        if block <= 1024
        else 4
        if block <= 2048
        else 8
        if block <= 8192
        else 16
    )
    _modulate_kernel[(batch * seq,)](
        x, scale, shift, y, seq, dim, eps, BLOCK=block, num_warps=warps
    )
    return y
