"""Transposed convolution by parity: a pixel of y has 2 x 2 terms per channel, which ones depends on whether row and column are even.

A program takes one parity of rows and both of columns, so that neighbours in y are stored together. For column 2b it needs x at b and
b - 1, for 2b + 1 at b and b + 1: three tiles of x serve four products. Weights are reordered first, so that filters are contiguous.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _reorder_weight_kernel(weight_ptr, out_ptr, pairs, BLOCK: tl.constexpr):
    pair = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.arange(0, 16)
    w = tl.load(weight_ptr + pair[:, None] * 16 + place[None, :], mask=(pair < pairs)[:, None], other=0.0)
    tl.store(out_ptr + place[None, :] * pairs + pair[:, None], w, mask=(pair < pairs)[:, None])


@triton.jit
def _transpose_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    pixels,
    channels,
    filters,
    height,
    width,
    BF: tl.constexpr,
    BP: tl.constexpr,
    BC: tl.constexpr,
):
    odd = tl.program_id(2)
    f = tl.program_id(0) * BF + tl.arange(0, BF)
    pixel = tl.program_id(1) * BP + tl.arange(0, BP)
    image = pixel // (height * width)
    a = pixel // width % height
    b = pixel % width
    size = height * width
    pairs = channels * filters
    depth = tl.arange(0, BC)
    even_acc = tl.zeros((BF, BP), tl.float32)
    odd_acc = tl.zeros((BF, BP), tl.float32)
    for term in range(2):
        # Row 2a takes filter rows 1 and 3 from image rows a and a - 1; row 2a + 1 takes 2 and 0 from a and a + 1.
        row = a + term * (2 * odd - 1)
        place = (1 + odd + term * (2 - 4 * odd)) * 4
        inside = (pixel < pixels) & (row >= 0) & (row < height)
        start = image.to(tl.int64) * channels * size + row * width + b
        for first in range(0, channels, BC):
            c = first + depth
            seen = (c < channels)[:, None] & inside[None, :]
            tile = start[None, :] + c[:, None] * size
            left = tl.load(x_ptr + tile - 1, mask=seen & (b > 0)[None, :], other=0.0)
            middle = tl.load(x_ptr + tile, mask=seen, other=0.0)
            right = tl.load(x_ptr + tile + 1, mask=seen & (b + 1 < width)[None, :], other=0.0)
            weights = weight_ptr + place * pairs + c[None, :] * filters + f[:, None]
            known = (c < channels)[None, :] & (f < filters)[:, None]
            w0 = tl.load(weights, mask=known, other=0.0)
            w1 = tl.load(weights + pairs, mask=known, other=0.0)
            w2 = tl.load(weights + 2 * pairs, mask=known, other=0.0)
            w3 = tl.load(weights + 3 * pairs, mask=known, other=0.0)
            even_acc = tl.dot(w1, middle, even_acc, input_precision="ieee")
            even_acc = tl.dot(w3, left, even_acc, input_precision="ieee")
            odd_acc = tl.dot(w2, middle, odd_acc, input_precision="ieee")
            odd_acc = tl.dot(w0, right, odd_acc, input_precision="ieee")
    y = tl.interleave(even_acc, odd_acc) + tl.load(bias_ptr + f, mask=f < filters, other=0.0)[:, None]
    lane = tl.arange(0, 2 * BP)
    pixel = tl.program_id(1) * BP + lane // 2
    line = pixel // width
    target = (line // height * filters * 2 * height + 2 * (line % height) + odd).to(tl.int64) * (2 * width) + 2 * (pixel % width) + lane % 2
    tl.store(y_ptr + target[None, :] + f[:, None] * (4 * size), y, mask=(f < filters)[:, None] & (pixel < pixels)[None, :])


def conv_transpose2d(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    batch, channels, height, width = x.shape
    filters = weight.shape[1]
    places = torch.empty((16, channels, filters), dtype=x.dtype, device=x.device)
    y = torch.empty((batch, filters, 2 * height, 2 * width), dtype=x.dtype, device=x.device)
    pairs = channels * filters
    _reorder_weight_kernel[(triton.cdiv(pairs, 64),)](weight, places, pairs, BLOCK=64, num_warps=4)
    pixels = batch * height * width
    bf = 64 if filters > 32 else 16
    grid = (triton.cdiv(filters, bf), triton.cdiv(pixels, 32), 2)
    _transpose_kernel[grid](x, places, bias, y, pixels, channels, filters, height, width, BF=bf, BP=32, BC=16, num_warps=4, num_stages=2)
    return y
