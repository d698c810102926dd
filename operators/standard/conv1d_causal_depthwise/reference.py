"""Computes a causal depthwise convolution over time, with bias and SiLU."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

WIDTH = 4


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    batch, seq, channels = case.axes["batch"], case.axes["seq"], case.axes["channels"]
    x = rng.normal((batch, seq, channels), torch.float32)
    if case.distribution == "spikes":
        x = 0.5 * x + 4.0 * (rng.uniform(x.shape, torch.float32, 0.0, 1.0) < 0.02)
    weight = rng.uniform((channels, WIDTH), torch.float32, -0.8, 0.8)
    bias = 0.3 * rng.normal((channels,), torch.float32)
    return {
        "x": x.clamp(-4.5, 4.5).to(case.dtype),
        "weight": weight.to(case.dtype),
        "bias": bias.to(case.dtype),
    }


def reference(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    a = _convolve(x, weight) + bias.to(_wide(x))
    return (a * torch.sigmoid(a)).to(x.dtype)


def _wide(x: Tensor) -> torch.dtype:
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def _convolve(x: Tensor, weight: Tensor, ahead: int = 0) -> Tensor:
    """Returns the convolution without bias and SiLU. With `ahead` > 0, every step uses inputs that
    are `ahead` steps too late (a mutant's mistake)."""
    seq = x.shape[1]
    padded = torch.nn.functional.pad(x.to(_wide(x)), (0, 0, WIDTH - 1 - ahead, ahead))
    taps = weight.to(_wide(x))
    out = padded[:, :seq] * taps[:, 0]
    for k in range(1, WIDTH):
        out += padded[:, k : k + seq] * taps[:, k]
    return out


def mutants(x: Tensor, weight: Tensor, bias: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide_bias = bias.to(_wide(x))
    right = _convolve(x, weight) + wide_bias
    variants = {
        "weights in reverse": _convolve(x, weight.flip(1)) + wide_bias,
        "one step of the future": _convolve(x, weight, 1) + wide_bias,
        "sequences see each other": _convolve(x.reshape(1, -1, x.shape[2]), weight).reshape(x.shape)
        + wide_bias,
        "bias left out": _convolve(x, weight),
    }
    outputs: dict[str, Tensor | tuple[Tensor, ...]] = {
        name: (a * torch.sigmoid(a)).to(x.dtype) for name, a in variants.items()
    }
    outputs["silu left out"] = right.to(x.dtype)
    outputs["gelu for silu"] = torch.nn.functional.gelu(right).to(x.dtype)
    return outputs


def cost(case: Case) -> Cost:
    channels = case.axes["channels"]
    elements = case.axes["batch"] * case.axes["seq"] * channels
    return Cost(
        bytes=(2 * elements + (WIDTH + 1) * channels) * case.dtype.itemsize,
        flops=(2 * WIDTH + 5) * elements,
    )
