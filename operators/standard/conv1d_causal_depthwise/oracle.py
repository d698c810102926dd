"""The kernel computes a causal depthwise convolution over four time steps. A thread keeps a short
strip of steps in registers, so that it reads each step once and not four times.

A thread computes a vector of channels for the steps of one strip. It issues the loads of these
steps and of the three steps before them at once. The four weights of a channel are adjacent in
memory, so the kernel reads the weights as whole vectors. It separates the four weights once for all
steps of the program."""

import torch
import triton
import triton.language as tl

ROWS = 8
ELEMENTS = 512
WARPS = 4


@triton.jit
def _strips_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    y_ptr,
    seq,
    channels,
    ROWS: tl.constexpr,
    STRIPS: tl.constexpr,
    BC: tl.constexpr,
):
    first = (tl.program_id(1) * STRIPS + tl.arange(0, STRIPS)) * ROWS
    lane = tl.program_id(0) * BC + tl.arange(0, BC)
    inside = lane < channels
    base = tl.program_id(2).to(tl.int64) * seq * channels
    tile = base + first[:, None] * channels + lane[None, :]
    rows = ()
    for step in tl.static_range(-3, ROWS):
        real = (first + step >= 0) & (first + step < seq)
        rows = rows + (
            tl.load(
                x_ptr + tile + step * channels, mask=real[:, None] & inside[None, :], other=0.0
            ),
        )
    tap = lane[:, None] * 4 + tl.arange(0, 4)[None, :]
    weights = tl.load(weight_ptr + tap, mask=inside[:, None], other=0.0).to(tl.float32)
    even, odd = tl.split(tl.reshape(weights, (BC, 2, 2)))
    w0, w2 = tl.split(even)
    w1, w3 = tl.split(odd)
    bias = tl.load(bias_ptr + lane, mask=inside, other=0.0).to(tl.float32)
    for step in tl.static_range(ROWS):
        acc = bias[None, :] + rows[step].to(tl.float32) * w0[None, :]
        acc += rows[step + 1].to(tl.float32) * w1[None, :]
        acc += rows[step + 2].to(tl.float32) * w2[None, :]
        acc += rows[step + 3].to(tl.float32) * w3[None, :]
        y = acc / (1.0 + tl.exp(-acc))
        tl.store(
            y_ptr + tile + step * channels,
            y.to(y_ptr.dtype.element_ty),
            mask=(first + step < seq)[:, None] & inside[None, :],
        )


def conv1d_causal_depthwise(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    batch, seq, channels = x.shape
    y = torch.empty_like(x)
    bc = min(128, max(8, triton.next_power_of_2(channels)))
    strips = min(ELEMENTS // bc, triton.next_power_of_2(triton.cdiv(seq, ROWS)))
    grid = (triton.cdiv(channels, bc), triton.cdiv(seq, strips * ROWS), batch)
    _strips_kernel[grid](
        x, weight, bias, y, seq, channels, ROWS=ROWS, STRIPS=strips, BC=bc, num_warps=WARPS
    )
    return y
