"""The kernel computes maximum pooling. A thread reads four neighbouring pixels as one vector in
each of three rows, and the pixel left of each vector.

Two neighbouring windows need no other pixels. So three vector loads and three single loads are
enough for two results; the simple form needs nine single loads for each result. The groups of four
pixels are numbered across all images, so that no lane is idle, whatever the sizes are. A row of
pixels that belongs to two rows of windows comes from the L1 cache the second time. So do the pixels
left of a vector."""

import torch
import triton
import triton.language as tl

BLOCK = 128


@triton.jit
def _quads_kernel(
    x_ptr,
    y_ptr,
    total,
    quads,
    height,
    width,
    out_height,
    out_width,
    EVEN: tl.constexpr,
    BLOCK: tl.constexpr,
):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = index // quads
    column = index % quads * 4
    i = 2 * (row % out_height)
    here = index < total
    above = here & (i > 0)
    below = here & (i + 1 < height)
    # `place` is the index of the first of the four pixels in the middle row.
    place = ((row // out_height).to(tl.int64) * height + i) * width + column
    lane = tl.arange(0, 4)
    quad = x_ptr + place[:, None] + lane[None, :]
    real = column[:, None] + lane[None, :] < width
    low = -float("inf")
    best = tl.load(quad, mask=here[:, None] & real, other=low)
    best = tl.maximum(best, tl.load(quad - width, mask=above[:, None] & real, other=low))
    best = tl.maximum(best, tl.load(quad + width, mask=below[:, None] & real, other=low))
    inner = column > 0
    left = tl.load(x_ptr + place - 1, mask=here & inner, other=low)
    left = tl.maximum(left, tl.load(x_ptr + place - 1 - width, mask=above & inner, other=low))
    left = tl.maximum(left, tl.load(x_ptr + place - 1 + width, mask=below & inner, other=low))
    even, odd = tl.split(tl.reshape(best, (BLOCK, 2, 2)))
    first, third = tl.split(even)
    second, fourth = tl.split(odd)
    pair = tl.join(
        tl.maximum(tl.maximum(left, first), second), tl.maximum(tl.maximum(second, third), fourth)
    )
    if EVEN:  # Every row of results consists of whole pairs.
        tl.store(
            y_ptr + (2 * index.to(tl.int64))[:, None] + tl.arange(0, 2)[None, :],
            pair,
            mask=here[:, None],
        )
    else:
        out = (column // 2)[:, None] + tl.arange(0, 2)[None, :]
        tl.store(
            y_ptr + row.to(tl.int64)[:, None] * out_width + out,
            pair,
            mask=here[:, None] & (out < out_width),
        )


def max_pool2d(x: torch.Tensor) -> torch.Tensor:
    batch, channels, height, width = x.shape
    out_height, out_width = (height - 1) // 2 + 1, (width - 1) // 2 + 1
    y = torch.empty((batch, channels, out_height, out_width), dtype=x.dtype, device=x.device)
    quads = triton.cdiv(width, 4)
    total = batch * channels * out_height * quads
    _quads_kernel[(triton.cdiv(total, BLOCK),)](
        x,
        y,
        total,
        quads,
        height,
        width,
        out_height,
        out_width,
        EVEN=out_width == 2 * quads,
        BLOCK=BLOCK,
        num_warps=4,
    )
    return y
