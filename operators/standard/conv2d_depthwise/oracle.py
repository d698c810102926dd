"""The kernel computes a depthwise convolution. Each thread computes four neighbouring columns of a
few rows, and issues all its loads at once.

From each row a thread loads its four pixels as one vector. It also loads the pixel to the left and
the pixel to the right of these four; both are usually in the L1 cache. Loading three shifted rows
pixel by pixel would be slower. Each row in registers contributes to three rows of results."""

import torch
import triton
import triton.language as tl

ROWS = 4
BLOCK = 256


@triton.jit
def _quads_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    channels,
    height,
    width,
    quads,
    blocks,
    EVEN: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    image = tl.program_id(0) // blocks
    channel = image % channels
    index = tl.program_id(0) % blocks * BLOCK + tl.arange(0, BLOCK)
    top = index // quads * ROWS
    column = index % quads * 4
    lane = tl.arange(0, 4)[None, :]
    place = x_ptr + image.to(tl.int64) * height * width + (top * width + column)
    rows = ()
    for r in tl.static_range(-1, ROWS + 1):
        real = (top + r >= 0) & (top + r < height)
        if EVEN:
            whole = real[:, None]
        else:
            whole = real[:, None] & (column[:, None] + lane < width)
        quad = tl.load((place + r * width)[:, None] + lane, mask=whole, other=0.0)
        left = tl.load(place + r * width - 1, mask=real & (column > 0), other=0.0)
        right = tl.load(place + r * width + 4, mask=real & (column + 4 < width), other=0.0)
        rows = rows + (left, quad, right)
    filters = weight_ptr + channel * 9
    w = ()
    for k in tl.static_range(9):
        w = w + (tl.load(filters + k),)
    bias = tl.load(bias_ptr + channel)
    out = y_ptr + image.to(tl.int64) * height * width + (top * width + column)
    for r in tl.static_range(ROWS):
        s0 = tl.zeros((BLOCK,), tl.float32) + bias
        s1 = s0
        s2 = s0
        s3 = s0
        for k in tl.static_range(3):
            left = rows[3 * (r + k)]
            even, odd = tl.split(tl.reshape(rows[3 * (r + k) + 1], (BLOCK, 2, 2)))
            a, c = tl.split(even)
            b, d = tl.split(odd)
            s0 += w[3 * k] * left + w[3 * k + 1] * a + w[3 * k + 2] * b
            s1 += w[3 * k] * a + w[3 * k + 1] * b + w[3 * k + 2] * c
            s2 += w[3 * k] * b + w[3 * k + 1] * c + w[3 * k + 2] * d
            s3 += w[3 * k] * c + w[3 * k + 1] * d + w[3 * k + 2] * rows[3 * (r + k) + 2]
        if EVEN:
            whole = (top + r < height)[:, None]
        else:
            whole = (top + r < height)[:, None] & (column[:, None] + lane < width)
        y = tl.reshape(tl.join(tl.join(s0, s2), tl.join(s1, s3)), (BLOCK, 4))
        tl.store((out + r * width)[:, None] + lane, y, mask=whole)


def conv2d_depthwise(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    batch, channels, height, width = x.shape
    y = torch.empty_like(x)
    quads = triton.cdiv(width, 4)
    places = quads * triton.cdiv(height, ROWS)
    block = min(BLOCK, max(32, triton.next_power_of_2(places)))
    blocks = triton.cdiv(places, block)
    _quads_kernel[(batch * channels * blocks,)](
        x,
        weight,
        bias,
        y,
        channels,
        height,
        width,
        quads,
        blocks,
        EVEN=width % 4 == 0,
        ROWS=ROWS,
        BLOCK=block,
        num_warps=block // 32,
    )
    return y
