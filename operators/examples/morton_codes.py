"""@triton.jit functions can call each other and are inlined. Here a small helper interleaves the bits of two coordinates (Z-order)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _spread(v):
    v = (v | (v << 8)) & 0x00FF00FF
    v = (v | (v << 4)) & 0x0F0F0F0F
    v = (v | (v << 2)) & 0x33333333
    return (v | (v << 1)) & 0x55555555


@triton.jit
def _morton_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    y = tl.load(y_ptr + at, mask=at < n, other=0)
    tl.store(out_ptr + at, _spread(x) | (_spread(y) << 1), mask=at < n)


def morton(x, y):
    """Returns the int32 Morton codes of points. Their coordinates must be below 2^15."""
    out = torch.empty_like(x)
    _morton_kernel[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
    return out


def check():
    x, y = torch.randint(0, 2**15, (2, 100), dtype=torch.int32)
    want = [
        sum(((a >> b) & 1) << 2 * b | ((c >> b) & 1) << 2 * b + 1 for b in range(15))
        for a, c in zip(x.tolist(), y.tolist(), strict=True)
    ]
    assert morton(x, y).tolist() == want
