"""In Gluon, a 1-D vector has the SliceLayout of the 2-D layout into which it is expanded (table of i * j mod p)."""

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def _table_kernel(out_ptr, p, SIDE: gl.constexpr):
    tile: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    i = gl.program_id(0) * SIDE + gl.arange(0, SIDE, layout=gl.SliceLayout(1, tile))
    j = gl.program_id(1) * SIDE + gl.arange(0, SIDE, layout=gl.SliceLayout(0, tile))
    product = i[:, None] * j[None, :] % p
    gl.store(
        out_ptr + i[:, None] * p + j[None, :], product, mask=(i < p)[:, None] & (j < p)[None, :]
    )


def multiplication_table(p, device="cuda"):
    out = torch.empty((p, p), dtype=torch.int32, device=device)
    tiles = triton.cdiv(p, 32)
    _table_kernel[(tiles, tiles)](out, p, SIDE=32, num_warps=4)
    return out


def check():
    i = torch.arange(41)
    assert torch.equal(multiplication_table(41, "cpu").long(), i[:, None] * i[None, :] % 41)
