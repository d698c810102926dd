"""tl.multiple_of, tl.max_contiguous and tl.assume tell the compiler what it cannot see. Here they say that rows of a slice are aligned."""

import torch
import triton
import triton.language as tl


@triton.jit
def _ceil_kernel(x_ptr, start_ptr, out_ptr, length, stride, BLOCK: tl.constexpr):
    tl.assume(stride % 16 == 0)
    # The caller must ensure that each start is a multiple of 16. Otherwise the kernel loads wrong
    # data.
    start = tl.multiple_of(tl.load(start_ptr + tl.program_id(0)), 16)
    at = tl.max_contiguous(tl.arange(0, BLOCK), BLOCK)
    x = tl.load(x_ptr + start + at, mask=at < length)
    tl.store(out_ptr + tl.program_id(0) * stride + at, tl.ceil(x), mask=at < length)


def ceil_of_slices(x, starts, length):
    stride = triton.cdiv(length, 16) * 16
    out = torch.zeros((starts.numel(), stride), device=x.device)
    _ceil_kernel[(starts.numel(),)](
        x, starts, out, length, stride, BLOCK=triton.next_power_of_2(length)
    )
    return out[:, :length]


def check():
    x, starts = torch.randn(200), torch.tensor([0, 160, 32], dtype=torch.int32)
    assert torch.equal(
        ceil_of_slices(x, starts, 40), torch.stack([x[s : s + 40].ceil() for s in starts.tolist()])
    )
