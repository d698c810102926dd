"""A state stays in registers over many steps, and the kernel stores once at the end (Lyapunov exponent of the logistic map)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _orbit_kernel(r_ptr, out_ptr, n, skip, steps, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r = tl.load(r_ptr + at, mask=at < n, other=2.0)
    x = tl.full([BLOCK], 0.4, tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for step in range(skip + steps):
        slope = tl.abs(r * (1.0 - 2.0 * x))
        total += tl.where(step >= skip, tl.log(tl.maximum(slope, 1e-12)), 0.0)
        x = r * x * (1.0 - x)
    tl.store(out_ptr + at, total / steps, mask=at < n)


def lyapunov(r, skip=20, steps=40):
    out = torch.empty_like(r)
    _orbit_kernel[(triton.cdiv(r.numel(), 64),)](r, out, r.numel(), skip, steps, BLOCK=64)
    return out


def check():
    import math

    out = lyapunov(torch.tensor([2.5, 1.5, 3.9]))
    torch.testing.assert_close(out[:2], torch.full((2,), math.log(0.5)), atol=1e-3, rtol=1e-3)
    assert out[2] > 0.2
