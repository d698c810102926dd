"""A value and its index share one 64-bit word, so tl.atomic_max keeps both together (the point farthest from the origin)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _farthest_kernel(x_ptr, y_ptr, best_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    y = tl.load(y_ptr + at, mask=at < n, other=0.0)
    squared = x * x + y * y  # not negative, so its bits have the same order as the number
    key = (squared.to(tl.int32, bitcast=True).to(tl.int64) << 32) | at.to(tl.int64)
    tl.atomic_max(best_ptr, tl.max(key, axis=0))


def farthest_point(x, y):
    best = torch.zeros((), dtype=torch.int64, device=x.device)
    _farthest_kernel[(triton.cdiv(x.numel(), 64),)](x, y, best, x.numel(), BLOCK=64)
    return best & 0xFFFFFFFF


def check():
    x, y = torch.randn(300), torch.randn(300)
    assert farthest_point(x, y) == (x * x + y * y).argmax()
