"""Compensated (Kahan) summation: each lane keeps what rounding lost, so a million small terms do not vanish beside a large one."""

import torch
import triton
import triton.language as tl


@triton.jit
def _kahan_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    lost = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        term = tl.load(x_ptr + at, mask=at < n, other=0.0) - lost
        following = total + term
        lost = (following - total) - term
        total = following
    tl.store(out_ptr, tl.sum(total.to(tl.float64) - lost, axis=0))


def kahan_sum(x):
    out = torch.empty((), dtype=torch.float64, device=x.device)
    _kahan_kernel[(1,)](x, out, x.numel(), BLOCK=32)
    return out


def check():
    x = torch.full((3200,), 0.001)
    x[:32] = 1e5
    assert abs(kahan_sum(x).item() - x.double().sum().item()) < 1e-3
