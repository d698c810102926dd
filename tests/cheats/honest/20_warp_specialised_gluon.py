# honest: computes half of a block in default warps, and half in a warp-specialised Gluon partition
# operator: gluon_blocked_add
# device: gpu

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

BLOCK: gl.constexpr = gl.constexpr(1024)
LAYOUT: gl.constexpr = gl.constexpr(
    gl.BlockedLayout(size_per_thread=[4], threads_per_warp=[32], warps_per_cta=[4], order=[0])
)


@gluon.jit
def _half(x, y, z, start, n):
    i = start + gl.arange(0, BLOCK, layout=LAYOUT)
    gl.store(z + i, gl.load(x + i, mask=i < n) + gl.load(y + i, mask=i < n), mask=i < n)


@gluon.jit
def _specialised(x, y, z, n):
    start = gl.program_id(0) * 2 * BLOCK
    first = (x, y, z, start, n)
    second = (x, y, z, start + BLOCK, n)
    gl.warp_specialize([(_half, first), (_half, second)], [4], [64])


def gluon_blocked_add(x, y):
    z = torch.empty_like(x)
    _specialised[(triton.cdiv(x.numel(), 2048),)](x, y, z, x.numel(), num_warps=4)
    return z
