"""Nested calls of tl.where replace if / elif. The kernel computes the hue of RGB colours, which are stored as three planes."""

import torch
import triton
import triton.language as tl


@triton.jit
def _hue_kernel(rgb_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r = tl.load(rgb_ptr + at, mask=at < n, other=0.0)
    g = tl.load(rgb_ptr + n + at, mask=at < n, other=0.0)
    b = tl.load(rgb_ptr + 2 * n + at, mask=at < n, other=0.0)
    high = tl.maximum(r, tl.maximum(g, b))
    spread = high - tl.minimum(r, tl.minimum(g, b))
    safe = tl.where(spread == 0.0, 1.0, spread)
    hue = tl.where(
        high == r, (g - b) / safe, tl.where(high == g, 2.0 + (b - r) / safe, 4.0 + (r - g) / safe)
    )
    tl.store(out_ptr + at, tl.where(hue < 0.0, hue + 6.0, hue) / 6.0, mask=at < n)


def hue(rgb):
    out = torch.empty_like(rgb[0])
    _hue_kernel[(triton.cdiv(out.numel(), 64),)](rgb, out, out.numel(), BLOCK=64)
    return out


def check():
    import colorsys

    rgb = torch.rand(3, 80)
    want = torch.tensor([colorsys.rgb_to_hsv(*colour)[0] for colour in rgb.T.tolist()])
    torch.testing.assert_close(hue(rgb), want, atol=1e-5, rtol=1e-5)
