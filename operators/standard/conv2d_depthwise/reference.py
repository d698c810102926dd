"""Computes a 3 x 3 depthwise convolution with bias."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    shape = (case.axes["batch"], case.axes["channels"], case.axes["height"], case.axes["width"])
    x = rng.normal(shape, torch.float32)
    weight = rng.normal((shape[1], 3, 3), torch.float32) / 3.0
    if case.distribution == "edges":
        # Values at the image's borders are larger, so that an error in the padding is visible.
        x[..., 1:-1, 1:-1] *= 0.5
    elif case.distribution == "cancellation":
        # The image is bright, and the weights of each filter add up to almost 0.
        x += 8.0
        weight -= weight.mean(dim=(1, 2), keepdim=True)
    bias = 0.5 * rng.normal((shape[1],), torch.float32)
    return {"x": x, "weight": weight, "bias": bias}


def reference(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return _convolve(x, weight, "constant") + bias[:, None, None]


def _convolve(x: Tensor, weight: Tensor, border: str) -> Tensor:
    height, width = x.shape[2:]
    padded = torch.nn.functional.pad(x, (1, 1, 1, 1), mode=border)
    out = torch.zeros_like(x)
    for r in range(3):
        for s in range(3):
            out += weight[:, r, s][:, None, None] * padded[:, :, r : r + height, s : s + width]
    return out


def mutants(x: Tensor, weight: Tensor, bias: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    offset = bias[:, None, None]
    return {
        "filters turned by 180 degrees": _convolve(x, weight.flip(1, 2), "constant") + offset,
        "rows and columns of filters swapped": _convolve(x, weight.transpose(1, 2), "constant")
        + offset,
        "border repeated instead of zeros": _convolve(x, weight, "replicate") + offset,
        "first channel's filter for all": _convolve(x, weight[:1].expand_as(weight), "constant")
        + offset,
        "bias left out": _convolve(x, weight, "constant"),
    }


def cost(case: Case) -> Cost:
    channels = case.axes["channels"]
    elements = case.axes["batch"] * channels * case.axes["height"] * case.axes["width"]
    return Cost(bytes=4 * (2 * elements + 10 * channels), flops=18 * elements)
