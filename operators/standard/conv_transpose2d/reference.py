"""Computes a transposed 4 x 4 convolution with stride 2 and padding 1."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The weights are scaled by the number of terms of a pixel, so that y has a variance of about 1
    for every number of terms."""
    batch, channels, filters = case.axes["batch"], case.axes["channels"], case.axes["filters"]
    x = rng.normal((batch, channels, case.axes["height"], case.axes["width"]), torch.float32)
    weight = rng.normal((channels, filters, 4, 4), torch.float32)
    if case.distribution == "edges":
        # Values at the image's borders are larger, so that an error in a cut patch is visible.
        x[..., 1:-1, 1:-1] *= 0.5
    elif case.distribution == "cancellation":
        # The products of the second half of the channels cancel most of the products of the first
        # half.
        half = channels // 2
        x[:, half : 2 * half] = x[:, :half]
        weight[half : 2 * half] = 0.5 * weight[half : 2 * half] - weight[:half]
    bias = 0.5 * rng.normal((filters,), torch.float32)
    return {"x": x, "weight": weight * (4.0 * channels) ** -0.5, "bias": bias}


def reference(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return _spread(x, weight, 1) + bias[:, None, None]


def _spread(x: Tensor, weight: Tensor, padding: int) -> Tensor:
    """Each input pixel contributes a patch of 4 x 4 output pixels. For each position in the patch,
    adds the contributions of all input pixels to every second output pixel. The output has room for
    whole patches and is then cropped."""
    height, width = x.shape[2:]
    room = torch.zeros(
        (x.shape[0], weight.shape[1], 2 * height + 2, 2 * width + 2), dtype=x.dtype, device=x.device
    )
    for r in range(4):
        for s in range(4):
            image = (weight[:, :, r, s].T @ x.flatten(2)).unflatten(2, (height, width))
            room[:, :, r : r + 2 * height : 2, s : s + 2 * width : 2] += image
    return room[:, :, padding : padding + 2 * height, padding : padding + 2 * width].contiguous()


def mutants(x: Tensor, weight: Tensor, bias: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    offset = bias[:, None, None]
    outer = weight.clone()
    outer[:, :, 3] = 0
    return {
        "patches turned by 180 degrees": _spread(x, weight.flip(2, 3), 1) + offset,
        "rows and columns of patches swapped": _spread(x, weight.transpose(2, 3), 1) + offset,
        "padding left out": _spread(x, weight, 0) + offset,
        "padding 2": _spread(torch.nn.functional.pad(x, (0, 1, 0, 1)), weight, 2)[
            :, :, : 2 * x.shape[2], : 2 * x.shape[3]
        ]
        + offset,
        "patches of 3 rows": _spread(x, outer, 1) + offset,
        "bias left out": _spread(x, weight, 1),
    }


def cost(case: Case) -> Cost:
    batch, channels, filters = case.axes["batch"], case.axes["channels"], case.axes["filters"]
    pixels = batch * case.axes["height"] * case.axes["width"]
    traffic = 4 * (pixels * (channels + 4 * filters) + 16 * channels * filters + filters)
    return Cost(bytes=traffic, flops=2 * 16 * pixels * channels * filters)
