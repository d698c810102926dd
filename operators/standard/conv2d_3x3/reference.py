"""Computes a 3 x 3 convolution with stride 1 and padding 1."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The weights are scaled by the number of terms, so that y has a variance of about 1 for every
    number of terms."""
    batch, channels, filters = case.axes["batch"], case.axes["channels"], case.axes["filters"]
    x = rng.normal((batch, channels, case.axes["height"], case.axes["width"]), torch.float32)
    weight = rng.normal((filters, channels, 3, 3), torch.float32)
    terms = 9.0 * channels
    if case.distribution == "edges":
        # Values at the image's borders are larger, so that an error in the padding is visible.
        x[..., 1:-1, 1:-1] *= 0.5
    elif case.distribution == "picks":
        # Each element of y is twice an element of x, or zero. A rounding to bfloat16 shows.
        x = 1.99 * x.clamp(-2.0, 2.0)
        weight = torch.zeros_like(weight).flatten(1)
        place = rng.integers((filters,), 0, weight.shape[1])
        weight[torch.arange(filters, device=rng.device), place] = 2.0
        weight = weight.reshape(-1, channels, 3, 3)
        return {"x": x.to(torch.float16), "weight": weight.to(torch.float16)}
    elif case.distribution == "fine":
        # Each element of y is one weight. A rounding of the weights to bfloat16 shows.
        x, weight = torch.zeros_like(x), rng.fine(weight.shape)
        place = rng.integers((batch,), 0, channels)
        x[torch.arange(batch, device=rng.device), place, ::3, ::3] = 1.0
        return {"x": x.to(torch.float16), "weight": weight.to(torch.float16)}
    elif case.distribution == "swell":
        # Accumulators need more bits than float16 has. The second half of the channels cancels
        # the first half, but for one weight of each filter.
        half = channels // 2
        x = torch.zeros_like(x)
        x[:, :half] = rng.integers(x[:, :half].shape, 16, 32, torch.float32) / 4.0
        x[:, half : 2 * half] = -x[:, :half]
        weight = rng.integers(weight.shape, 16, 32, torch.float32) / 16.0
        weight[:, half : 2 * half] = weight[:, :half]
        filter_numbers = torch.arange(filters, device=rng.device)
        weight[filter_numbers, rng.integers((filters,), 0, half), 1, 1] -= 1.0
        return {"x": x.to(torch.float16), "weight": weight.to(torch.float16)}
    elif case.distribution == "positive":
        # All terms have the same sign, so an accumulator with too little precision loses the small
        # terms. The entries of y are about 3.
        x = 1.75 * rng.uniform(x.shape, torch.float32, 0.5, 1.5)
        weight = 1.75 * rng.uniform(weight.shape, torch.float32, 0.5, 1.5)
        terms = terms**2
    return {"x": x.to(torch.float16), "weight": (weight * terms**-0.5).to(torch.float16)}


def reference(x: Tensor, weight: Tensor) -> Tensor:
    return _convolve(x, weight, "constant")


def _convolve(x: Tensor, weight: Tensor, border: str) -> Tensor:
    """Adds up one matrix product for each of the nine positions of the filter."""
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    height, width = x.shape[2:]
    padded = torch.nn.functional.pad(x.to(wide), (1, 1, 1, 1), mode=border)
    out = torch.zeros((x.shape[0], weight.shape[0], height * width), dtype=wide, device=x.device)
    for r in range(3):
        for s in range(3):
            out += weight[:, :, r, s].to(wide) @ padded[
                :, :, r : r + height, s : s + width
            ].flatten(2)
    return out.unflatten(2, (height, width)).to(x.dtype)


def mutants(x: Tensor, weight: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    holed = weight.clone()
    holed[:, :, 2, 2] = 0
    return {
        "filters turned by 180 degrees": _convolve(x, weight.flip(2, 3), "constant"),
        "rows and columns of filters swapped": _convolve(x, weight.transpose(2, 3), "constant"),
        "border repeated instead of zeros": _convolve(x, weight, "replicate"),
        "one filter place left out": _convolve(x, holed, "constant"),
        "last channel left out": _convolve(x[:, :-1], weight[:, :-1], "constant"),
    }


def cost(case: Case) -> Cost:
    batch, channels, filters = case.axes["batch"], case.axes["channels"], case.axes["filters"]
    pixels = batch * case.axes["height"] * case.axes["width"]
    return Cost(
        bytes=2 * (pixels * (channels + filters) + 9 * filters * channels),
        flops=2 * 9 * pixels * filters * channels,
    )
