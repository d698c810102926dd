"""In Gluon, a tile is stored in shared memory with one layout and loaded with another, so that its reduction stays within a thread."""

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def _below_peak_kernel(x_ptr, out_ptr, SIDE: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    tall: gl.constexpr = gl.BlockedLayout([SIDE, 1], [1, 32], [1, 4], [1, 0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0])
    i = gl.arange(0, SIDE, layout=gl.SliceLayout(1, rows))
    j = gl.arange(0, SIDE, layout=gl.SliceLayout(0, rows))
    at = gl.program_id(0) * SIDE * SIDE + i[:, None] * SIDE + j[None, :]
    x = gl.load(x_ptr + at)
    buffer = gl.allocate_shared_memory(gl.float32, [SIDE, SIDE], shared)
    buffer.store(x)
    peak = gl.max(buffer.load(tall), axis=0)
    gl.store(out_ptr + at, gl.convert_layout(peak, gl.SliceLayout(0, rows))[None, :] - x)


def below_column_peak(x):
    """Returns, for each value of a 32 x 32 tile, the difference between the largest value of its
    column and this value."""
    out = torch.empty_like(x)
    _below_peak_kernel[(x.shape[0],)](x, out, SIDE=32, num_warps=4)
    return out


def check():
    x = torch.randn(2, 32, 32)
    torch.testing.assert_close(below_column_peak(x), x.amax(1, keepdim=True) - x)
