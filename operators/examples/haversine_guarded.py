"""Rounding can move the argument of a root out of its range, so it is clamped before sqrt (distances on a sphere)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _haversine_kernel(lat_ptr, lon_ptr, out_ptr, n, lat0, lon0, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    lat = tl.load(lat_ptr + at, mask=at < n, other=0.0)
    lon = tl.load(lon_ptr + at, mask=at < n, other=0.0)
    up = tl.sin((lat - lat0) * 0.5)
    over = tl.sin((lon - lon0) * 0.5)
    chord = up * up + tl.cos(lat) * tl.cos(lat * 0.0 + lat0) * over * over
    tl.store(out_ptr + at, tl.sqrt(tl.minimum(tl.maximum(chord, 0.0), 1.0)), mask=at < n)


def half_chords(lat, lon, lat0, lon0):
    """Returns the sine of half of each point's angle to (lat0, lon0). Angles are in radians."""
    out = torch.empty_like(lat)
    _haversine_kernel[(triton.cdiv(lat.numel(), 64),)](
        lat, lon, out, lat.numel(), lat0, lon0, BLOCK=64
    )
    return out


def check():
    import math

    lat, lon = torch.randn(100), torch.randn(100) * 2
    want = ((lat - 0.3) / 2).sin() ** 2 + lat.cos() * math.cos(0.3) * ((lon + 1) / 2).sin() ** 2
    torch.testing.assert_close(
        half_chords(lat, lon, 0.3, -1.0), want.clamp(0, 1).sqrt(), atol=1e-6, rtol=1e-5
    )
