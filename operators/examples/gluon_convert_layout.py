"""In Gluon, gl.convert_layout moves a tile to another layout, so that a reduction over rows stays within a warp (count of even rows)."""

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def _even_kernel(x_ptr, out_ptr, ROWS: gl.constexpr, COLS: gl.constexpr):
    along: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [4, 1], [1, 0])
    down: gl.constexpr = gl.BlockedLayout([4, 1], [32, 1], [1, 4], [0, 1])
    i = gl.arange(0, ROWS, layout=gl.SliceLayout(1, along))
    j = gl.arange(0, COLS, layout=gl.SliceLayout(0, along))
    x = gl.load(x_ptr + gl.program_id(0) * ROWS * COLS + i[:, None] * COLS + j[None, :])
    even = gl.convert_layout((x & 1) ^ 1, down)
    count = gl.sum(even, axis=0)
    col = gl.arange(0, COLS, layout=gl.SliceLayout(0, down))
    gl.store(out_ptr + gl.program_id(0) * COLS + col, count)


def even_per_column(x):
    batch, rows, cols = x.shape
    out = torch.empty((batch, cols), dtype=torch.int32, device=x.device)
    _even_kernel[(batch,)](x, out, ROWS=rows, COLS=cols, num_warps=4)
    return out


def check():
    x = torch.randint(0, 9, (2, 128, 128), dtype=torch.int32)
    assert torch.equal(even_per_column(x).long(), (x % 2 == 0).sum(1))
