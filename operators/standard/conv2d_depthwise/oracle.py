"""Depthwise convolution: strips of rows, walked downwards with the two rows above in registers.

Every row is loaded at three shifts once, instead of nine times, which is what keeps L1 from being the limit. A program takes several strips
at a time, so that each thread has a few independent columns under way.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _row(x_ptr, plane, i, j, height, width):
    inside = ((i >= 0) & (i < height))[:, None]
    place = plane + i[:, None] * width + j[None, :]
    left = tl.load(x_ptr + place - 1, mask=inside & ((j > 0) & (j <= width))[None, :], other=0.0)
    middle = tl.load(x_ptr + place, mask=inside & (j < width)[None, :], other=0.0)
    right = tl.load(x_ptr + place + 1, mask=inside & (j + 1 < width)[None, :], other=0.0)
    return left, middle, right


@triton.jit
def _depthwise_kernel(
    x_ptr, weight_ptr, bias_ptr, y_ptr, channels, height, width, STRIPS: tl.constexpr, ROWS: tl.constexpr, BW: tl.constexpr
):
    channel = tl.program_id(0) % channels
    plane = tl.program_id(0).to(tl.int64) * height * width
    first = (tl.program_id(1) * STRIPS + tl.arange(0, STRIPS)) * ROWS
    j = tl.program_id(2) * BW + tl.arange(0, BW)
    filters = weight_ptr + channel * 9
    w00 = tl.load(filters)
    w01 = tl.load(filters + 1)
    w02 = tl.load(filters + 2)
    w10 = tl.load(filters + 3)
    w11 = tl.load(filters + 4)
    w12 = tl.load(filters + 5)
    w20 = tl.load(filters + 6)
    w21 = tl.load(filters + 7)
    w22 = tl.load(filters + 8)
    bias = tl.load(bias_ptr + channel)
    a0, a1, a2 = _row(x_ptr, plane, first - 1, j, height, width)
    b0, b1, b2 = _row(x_ptr, plane, first, j, height, width)
    for step in range(ROWS):
        i = first + step
        c0, c1, c2 = _row(x_ptr, plane, i + 1, j, height, width)
        acc = bias + w00 * a0 + w01 * a1 + w02 * a2 + w10 * b0 + w11 * b1 + w12 * b2 + w20 * c0 + w21 * c1 + w22 * c2
        tl.store(y_ptr + plane + i[:, None] * width + j[None, :], acc, mask=(i < height)[:, None] & (j < width)[None, :])
        a0, a1, a2 = b0, b1, b2
        b0, b1, b2 = c0, c1, c2


def conv2d_depthwise(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    batch, channels, height, width = x.shape
    y = torch.empty_like(x)
    bw = min(128, triton.next_power_of_2(width))
    rows = 8
    strips = min(1024 // bw, triton.next_power_of_2(triton.cdiv(height, rows)))
    grid = (batch * channels, triton.cdiv(height, strips * rows), triton.cdiv(width, bw))
    _depthwise_kernel[grid](x, weight, bias, y, channels, height, width, STRIPS=strips, ROWS=rows, BW=bw, num_warps=4)
    return y
