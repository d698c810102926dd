"""Causal depthwise convolution: a tile of steps x channels per program, read four times at shifts of one step.

Channels are contiguous, so a shift in time keeps every load a whole aligned vector, and the three shifted reads come from L1.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _conv_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, seq, channels, BT: tl.constexpr, BC: tl.constexpr):
    steps = tl.program_id(1) * BT + tl.arange(0, BT)
    lane = tl.program_id(0) * BC + tl.arange(0, BC)
    inside = lane < channels
    base = tl.program_id(2).to(tl.int64) * seq * channels
    tile = base + steps[:, None] * channels + lane[None, :]
    mask = (steps < seq)[:, None] & inside[None, :]
    acc = tl.zeros((BT, BC), tl.float32) + tl.load(bias_ptr + lane, mask=inside, other=0.0).to(tl.float32)[None, :]
    for k in tl.static_range(4):
        weight = tl.load(weight_ptr + lane * 4 + k, mask=inside, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + tile + (k - 3) * channels, mask=mask & (steps >= 3 - k)[:, None], other=0.0)
        acc += x.to(tl.float32) * weight[None, :]
    y = acc / (1.0 + tl.exp(-acc))
    tl.store(y_ptr + tile, y.to(y_ptr.dtype.element_ty), mask=mask)


def conv1d_causal_depthwise(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    batch, seq, channels = x.shape
    y = torch.empty_like(x)
    bc = min(128, triton.next_power_of_2(channels))
    bt = 4096 // bc if seq * channels >= 4096 else 16
    grid = (triton.cdiv(channels, bc), triton.cdiv(seq, bt), batch)
    _conv_kernel[grid](x, weight, bias, y, seq, channels, BT=bt, BC=bc, num_warps=4)
    return y
