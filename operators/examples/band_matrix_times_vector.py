"""A banded matrix is stored as [rows, 2 * HALF + 1]. Each program multiplies the diagonals of its rows by a window of the vector."""

import torch
import triton
import triton.language as tl


@triton.jit
def _band_kernel(band_ptr, x_ptr, out_ptr, n, HALF: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for d in tl.static_range(2 * HALF + 1):
        col = row + d - HALF
        inside = (row < n) & (col >= 0) & (col < n)
        entry = tl.load(band_ptr + row * (2 * HALF + 1) + d, mask=inside, other=0.0)
        total += entry * tl.load(x_ptr + col, mask=inside, other=0.0)
    tl.store(out_ptr + row, total, mask=row < n)


def band_times_vector(band, x):
    out = torch.empty_like(x)
    _band_kernel[(triton.cdiv(x.numel(), 32),)](
        band, x, out, x.numel(), HALF=band.shape[1] // 2, BLOCK=32
    )
    return out


def check():
    band, x = torch.randn(50, 5), torch.randn(50)
    dense = torch.zeros(50, 50)
    for i in range(50):
        for j in range(max(0, i - 2), min(50, i + 3)):
            dense[i, j] = band[i, j - i + 2]
    torch.testing.assert_close(band_times_vector(band, x), dense @ x, atol=1e-5, rtol=1e-5)
