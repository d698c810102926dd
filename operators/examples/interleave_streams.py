"""tl.interleave zips two blocks, so that the result is stored to contiguous addresses (points of a circle as x, y, x, y, ...)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _circle_kernel(angle_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    angle = tl.load(angle_ptr + at, mask=at < n, other=0.0)
    points = tl.interleave(tl.cos(angle), tl.sin(angle))
    word = tl.program_id(0) * BLOCK * 2 + tl.arange(0, BLOCK * 2)
    tl.store(out_ptr + word, points, mask=word < 2 * n)


def circle_points(angle):
    out = torch.empty((angle.numel(), 2), device=angle.device)
    _circle_kernel[(triton.cdiv(angle.numel(), 64),)](angle, out, angle.numel(), BLOCK=64)
    return out


def check():
    angle = torch.randn(90)
    torch.testing.assert_close(circle_points(angle), torch.stack([angle.cos(), angle.sin()], 1))
