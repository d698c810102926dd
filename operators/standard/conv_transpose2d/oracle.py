"""The kernel computes a transposed convolution by parity. A pixel of y has 2 x 2 terms per channel,
and the parities of its row and column determine which terms.

A program computes rows of one parity and columns of both parities, so that neighbours in y are
stored together. Column 2b needs x at b and b - 1, and column 2b + 1 needs x at b and b + 1. So
three tiles of x are enough for four products. Another kernel first reorders the weights so that
channels are contiguous, as tensor cores require, and splits each weight into a TF32 part and its
remainder. x is split after it is loaded. Three TF32 products are as exact as one float32
product."""

import torch
import triton
import triton.language as tl


@triton.jit
def _high(x):
    """Returns the value with only the 10 mantissa bits that TF32 keeps."""
    return (x.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)


@triton.jit
def _reorder_weight_kernel(
    weight_ptr, high_ptr, low_ptr, channels, filters, BC: tl.constexpr, BF: tl.constexpr
):
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    f = tl.program_id(1) * BF + tl.arange(0, BF)
    mask = (c < channels)[:, None] & (f < filters)[None, :]
    for place in range(16):
        w = tl.load(
            weight_ptr + (c[:, None] * filters + f[None, :]) * 16 + place, mask=mask, other=0.0
        )
        w = tl.trans(w)
        at = (place * filters + f[:, None]) * channels + c[None, :]
        tl.store(high_ptr + at, _high(w), mask=tl.trans(mask))
        tl.store(low_ptr + at, w - _high(w), mask=tl.trans(mask))


@triton.jit
def _product(high, low, high_ptr, low_ptr, at, mask, acc, PRECISION: tl.constexpr):
    w_high = tl.load(high_ptr + at, mask=mask, other=0.0)
    w_low = tl.load(low_ptr + at, mask=mask, other=0.0)
    acc = tl.dot(high, w_low, acc, input_precision=PRECISION)
    acc = tl.dot(low, w_high, acc, input_precision=PRECISION)
    return tl.dot(high, w_high, acc, input_precision=PRECISION)


@triton.jit
def _transpose_kernel(
    x_ptr,
    high_ptr,
    low_ptr,
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
    PRECISION: tl.constexpr,
):
    odd = tl.program_id(1)
    f = tl.program_id(2) * BF + tl.arange(0, BF)
    pixel = tl.program_id(0) * BP + tl.arange(0, BP)
    image = pixel // (height * width)
    a = pixel // width % height
    b = pixel % width
    size = height * width
    plane = channels * filters
    depth = tl.arange(0, BC)
    even_acc = tl.zeros((BP, BF), tl.float32)
    odd_acc = tl.zeros((BP, BF), tl.float32)
    steps = tl.cdiv(channels, BC)
    # One loop covers both filter rows and all channels, so that the pipeline of loads is never
    # interrupted.
    for step in range(2 * steps):
        # Output row 2a uses filter rows 1 and 3 with image rows a and a - 1. Output row 2a + 1 uses
        # filter rows 2 and 0 with image rows a and a + 1.
        term = step // steps
        row = a + term * (2 * odd - 1)
        place = (1 + odd + term * (2 - 4 * odd)) * 4
        inside = (pixel < pixels) & (row >= 0) & (row < height)
        start = image.to(tl.int64) * channels * size + row * width + b
        c = step % steps * BC + depth
        seen = inside[:, None] & (c < channels)[None, :]
        tile = x_ptr + start[:, None] + c[None, :] * size
        at = place * plane + f[None, :] * channels + c[:, None]
        known = (c < channels)[:, None] & (f < filters)[None, :]
        left = tl.load(tile - 1, mask=seen & (b > 0)[:, None], other=0.0)
        middle = tl.load(tile, mask=seen, other=0.0)
        right = tl.load(tile + 1, mask=seen & (b + 1 < width)[:, None], other=0.0)
        # Each step starts its products at `zero`, and its sums are added to the totals outside of
        # the tensor cores, because tensor cores round towards zero. Adding the sums also waits
        # until the tensor cores have read the registers of x.
        zero = tl.zeros((BP, BF), tl.float32)
        high = _high(middle)
        low = middle - high
        even = _product(high, low, high_ptr, low_ptr, at + plane, known, zero, PRECISION)
        odds = _product(high, low, high_ptr, low_ptr, at + 2 * plane, known, zero, PRECISION)
        high = _high(left)
        even_acc += _product(
            high, left - high, high_ptr, low_ptr, at + 3 * plane, known, even, PRECISION
        )
        high = _high(right)
        odd_acc += _product(high, right - high, high_ptr, low_ptr, at, known, odds, PRECISION)
    y = (
        tl.interleave(tl.trans(even_acc), tl.trans(odd_acc))
        + tl.load(bias_ptr + f, mask=f < filters, other=0.0)[:, None]
    )
    lane = tl.arange(0, 2 * BP)
    pixel = tl.program_id(0) * BP + lane // 2
    line = pixel // width
    target = (
        (line // height * filters * 2 * height + 2 * (line % height) + odd).to(tl.int64)
        * (2 * width)
        + 2 * (pixel % width)
        + lane % 2
    )
    tl.store(
        y_ptr + target[None, :] + f[:, None] * (4 * size),
        y,
        mask=(f < filters)[:, None] & (pixel < pixels)[None, :],
    )


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has 64 KiB of shared memory, which is enough for the
    eleven tiles of a step only if the tiles are half as large."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def _precision() -> str:
    """Returns the precision of products of float32 matrices. Of AMD's GPUs, only gfx942 has TF32;
    the others multiply float32 directly."""
    if triton.knobs.runtime.interpret:
        return "tf32"
    arch = triton.runtime.driver.active.get_current_target().arch
    return "tf32" if isinstance(arch, int) or arch == "gfx942" else "ieee"


def conv_transpose2d(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    batch, channels, height, width = x.shape
    filters = weight.shape[1]
    parts = torch.empty((2, 16, filters, channels), dtype=x.dtype, device=x.device)
    y = torch.empty((batch, filters, 2 * height, 2 * width), dtype=x.dtype, device=x.device)
    _reorder_weight_kernel[(triton.cdiv(channels, 32), triton.cdiv(filters, 16))](
        weight, parts[0], parts[1], channels, filters, BC=32, BF=16, num_warps=4
    )
    pixels = batch * height * width
    bp = 128 if pixels >= 1 << 14 else 64
    bf = 64 if filters > 32 else 32 if filters > 16 else 16
    if _is_amd():
        bp, bf = 64, min(bf, 32)
    _transpose_kernel[(triton.cdiv(pixels, bp), 2, triton.cdiv(filters, bf))](
        x,
        parts[0],
        parts[1],
        bias,
        y,
        pixels,
        channels,
        filters,
        height,
        width,
        BF=bf,
        BP=bp,
        BC=32,
        PRECISION=_precision(),
        num_warps=8,
        num_stages=2,
    )
    return y
