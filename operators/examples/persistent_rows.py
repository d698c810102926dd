"""A persistent kernel has one program per multiprocessor, and each takes every n-th row of the matrix (share of negative values)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _negative_share_kernel(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * cols + at, mask=at < cols, other=0.0)
        tl.store(out_ptr + row, tl.sum((x < 0).to(tl.float32), axis=0) / cols)


def negative_share(x, programs=None):
    if programs is None:
        programs = torch.cuda.get_device_properties(x.device).multi_processor_count
    out = torch.empty(x.shape[0], device=x.device)
    _negative_share_kernel[(min(programs, x.shape[0]),)](
        x, out, *x.shape, BLOCK=triton.next_power_of_2(x.shape[1])
    )
    return out


def check():
    x = torch.randn(13, 50)
    torch.testing.assert_close(negative_share(x, 4), (x < 0).float().mean(1))
