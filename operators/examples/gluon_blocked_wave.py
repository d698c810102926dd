"""In Gluon, a layout says which thread has which values. Here each thread has 4 consecutive values (a sawtooth wave without inputs)."""

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def _sawtooth_kernel(out_ptr, n, period, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    phase = (at % period).to(gl.float32) / period
    gl.store(out_ptr + at, 2.0 * phase - 1.0, mask=at < n)


def sawtooth(n, period, device="cuda"):
    out = torch.empty(n, device=device)
    _sawtooth_kernel[(triton.cdiv(n, 1024),)](out, n, period, BLOCK=1024, num_warps=4)
    return out


def check():
    t = torch.arange(3000)
    torch.testing.assert_close(sawtooth(3000, 37, "cpu"), 2 * (t % 37) / 37 - 1)
