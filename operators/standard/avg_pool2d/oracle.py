"""Each program computes average pooling for a tile of output rows x columns. The loop over the
window is unrolled.

Output rows are numbered across all images. So small images share a program, and the kernel divides
once per row, not once per pixel. Pixels that several windows contain come from the L1 cache. If the
windows are 2 x 2 and neither overlap nor touch the border, another kernel reads whole lines and
adds neighbours in registers. A window's divisor is the number of its rows that count times the
number of its columns that count."""

import torch
import triton
import triton.language as tl


@triton.jit
def _pool_kernel(
    x_ptr,
    y_ptr,
    rows,
    height,
    width,
    out_height,
    out_width,
    KERNEL: tl.constexpr,
    STRIDE: tl.constexpr,
    PADDING: tl.constexpr,
    COUNT_PADDING: tl.constexpr,
    BH: tl.constexpr,
    BW: tl.constexpr,
):
    row = tl.program_id(0) * BH + tl.arange(0, BH)
    column = tl.program_id(1) * BW + tl.arange(0, BW)
    plane = (row // out_height).to(tl.int64) * height * width
    i = STRIDE * (row % out_height) - PADDING
    j = STRIDE * column - PADDING
    total = tl.zeros((BH, BW), tl.float32)
    for r in tl.static_range(KERNEL):
        inside = (row < rows) & (i + r >= 0) & (i + r < height)
        line = x_ptr + (plane + (i + r) * width)[:, None]
        for s in tl.static_range(KERNEL):
            mask = inside[:, None] & ((j + s >= 0) & (j + s < width))[None, :]
            total += tl.load(line + (j + s)[None, :], mask=mask, other=0.0)
    if COUNT_PADDING:
        y = total * (1.0 / (KERNEL * KERNEL))
    else:
        high = tl.minimum(i + KERNEL, height) - tl.maximum(i, 0)
        wide = tl.minimum(j + KERNEL, width) - tl.maximum(j, 0)
        y = total / (high[:, None] * wide[None, :]).to(tl.float32)
    mask = (row < rows)[:, None] & (column < out_width)[None, :]
    tl.store(y_ptr + row.to(tl.int64)[:, None] * out_width + column[None, :], y, mask=mask)


@triton.jit
def _pairs_kernel(
    x_ptr, y_ptr, rows, height, width, out_height, out_width, BH: tl.constexpr, BW: tl.constexpr
):
    row = tl.program_id(0) * BH + tl.arange(0, BH)
    column = tl.program_id(1) * (2 * BW) + tl.arange(0, 2 * BW)
    # The index of the first input line of a row of windows. Lines are numbered across all images.
    line = (row // out_height).to(tl.int64) * height + 2 * (row % out_height)
    place = line[:, None] * width + column[None, :]
    mask = (row < rows)[:, None] & (column < width)[None, :]
    upper = tl.load(x_ptr + place, mask=mask, other=0.0)
    lower = tl.load(x_ptr + place + width, mask=mask, other=0.0)
    left, right = tl.split(tl.reshape(upper + lower, (BH, BW, 2)))
    out = tl.program_id(1) * BW + tl.arange(0, BW)
    target = y_ptr + row.to(tl.int64)[:, None] * out_width + out[None, :]
    tl.store(target, (left + right) * 0.25, mask=(row < rows)[:, None] & (out < out_width)[None, :])


def avg_pool2d(
    x: torch.Tensor, kernel: int, stride: int, padding: int, count_include_pad: bool
) -> torch.Tensor:
    batch, channels, height, width = x.shape
    out_height = (height + 2 * padding - kernel) // stride + 1
    out_width = (width + 2 * padding - kernel) // stride + 1
    y = torch.empty((batch, channels, out_height, out_width), dtype=x.dtype, device=x.device)
    rows = batch * channels * out_height
    bw = min(128, triton.next_power_of_2(out_width))
    if kernel == 2 and stride == 2 and padding == 0:
        bh = max(1, 512 // bw)
        grid = (triton.cdiv(rows, bh), triton.cdiv(out_width, bw))
        _pairs_kernel[grid](
            x, y, rows, height, width, out_height, out_width, BH=bh, BW=bw, num_warps=4
        )
        return y
    bh = max(1, 1024 // bw)
    _pool_kernel[(triton.cdiv(rows, bh), triton.cdiv(out_width, bw))](
        x,
        y,
        rows,
        height,
        width,
        out_height,
        out_width,
        KERNEL=kernel,
        STRIDE=stride,
        PADDING=padding,
        COUNT_PADDING=count_include_pad,
        BH=bh,
        BW=bw,
        num_warps=4,
    )
    return y
