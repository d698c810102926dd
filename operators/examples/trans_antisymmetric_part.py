"""(A - A^T) / 2 needs each tile and its mirrored tile. Both loads are coalesced, and tl.trans transposes the second tile in registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def _antisymmetric_kernel(a_ptr, out_ptr, n, TILE: tl.constexpr):
    lane = tl.arange(0, TILE)
    i = tl.program_id(0) * TILE + lane
    j = tl.program_id(1) * TILE + lane
    inside = (i < n)[:, None] & (j < n)[None, :]
    mirror = (j < n)[:, None] & (i < n)[None, :]
    here = tl.load(a_ptr + i[:, None] * n + j[None, :], mask=inside, other=0.0)
    there = tl.load(a_ptr + j[:, None] * n + i[None, :], mask=mirror, other=0.0)
    tl.store(out_ptr + i[:, None] * n + j[None, :], (here - tl.trans(there)) * 0.5, mask=inside)


def antisymmetric_part(a):
    out = torch.empty_like(a)
    tiles = triton.cdiv(a.shape[0], 16)
    _antisymmetric_kernel[(tiles, tiles)](a, out, a.shape[0], TILE=16)
    return out


def check():
    a = torch.randn(37, 37)
    torch.testing.assert_close(antisymmetric_part(a), (a - a.T) / 2)
