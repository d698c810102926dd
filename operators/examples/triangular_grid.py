"""A 1-D grid covers only the lower triangle. A tile's number gives its row and column, so no program is idle (|a_i - a_j|, i >= j)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _gap_kernel(a_ptr, out_ptr, n, TILE: tl.constexpr):
    tile = tl.program_id(0)
    down = ((tl.sqrt(8.0 * tile + 1.0) - 1.0) * 0.5).to(tl.int32)
    # Corrects `down` if the square root was rounded up.
    down = tl.where(down * (down + 1) // 2 > tile, down - 1, down)
    down = tl.where((down + 1) * (down + 2) // 2 <= tile, down + 1, down)
    across = tile - down * (down + 1) // 2
    i = down * TILE + tl.arange(0, TILE)
    j = across * TILE + tl.arange(0, TILE)
    gap = tl.abs(tl.load(a_ptr + i, mask=i < n)[:, None] - tl.load(a_ptr + j, mask=j < n)[None, :])
    lower = (i[:, None] >= j[None, :]) & (i < n)[:, None]
    tl.store(out_ptr + i[:, None] * n + j[None, :], gap, mask=lower)


def lower_gaps(a):
    out = torch.zeros((a.numel(), a.numel()), device=a.device)
    tiles = triton.cdiv(a.numel(), 8)
    _gap_kernel[(tiles * (tiles + 1) // 2,)](a, out, a.numel(), TILE=8)
    return out


def check():
    a = torch.randn(45)
    assert torch.equal(lower_gaps(a), (a[:, None] - a[None, :]).abs().tril())
