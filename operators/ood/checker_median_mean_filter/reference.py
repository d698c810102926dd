"""Computes a 3 x 3 median on even pixels and a 3 x 3 mean on odd pixels of a checkerboard."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    shape = (case.axes["images"], case.axes["height"], case.axes["width"])
    x = rng.normal(shape, torch.float32).clamp(-1.9, 1.9)
    if case.distribution == "spikes":
        # The input is a smooth image with salt-and-pepper noise, which the median removes and the
        # mean does not.
        x = 0.3 * x + 1.0
        drawn = rng.uniform(shape, torch.float32, 0.0, 1.0)
        x = torch.where(drawn < 0.05, -7.0, torch.where(drawn > 0.95, 7.0, x))
    return {"x": x.to(case.dtype)}


def _neighbours(image: Tensor, border: str) -> Tensor:
    """Returns the nine shifted copies of the image, with shape (9, height, width)."""
    height, width = image.shape
    rows = torch.arange(-1, height + 1, device=image.device)
    columns = torch.arange(-1, width + 1, device=image.device)
    if border == "wrapped":
        padded = image[rows % height][:, columns % width]
    else:
        padded = image[rows.clamp(0, height - 1)][:, columns.clamp(0, width - 1)]
    if border == "zero":
        padded = (
            padded * ((rows >= 0) & (rows < height))[:, None] * ((columns >= 0) & (columns < width))
        )
    return torch.stack([padded[i : i + height, j : j + width] for i in range(3) for j in range(3)])


def _filter(
    x: Tensor, border: str = "replicate", parity: int = 0, only: str = "", rank: int = 4
) -> Tensor:
    """Filters one image at a time, so that only nine copies of one image are in memory."""
    wide = x if x.dtype == torch.float64 else x.float()
    even = (
        torch.arange(x.shape[1], device=x.device)[:, None]
        + torch.arange(x.shape[2], device=x.device)
    ) % 2 == parity
    out = torch.empty_like(x)
    for image, result in zip(wide, out, strict=True):
        nine = _neighbours(image, border)
        median, mean = nine.sort(dim=0).values[rank], nine.mean(dim=0)
        result.copy_(
            median
            if only == "median"
            else mean
            if only == "mean"
            else torch.where(even, median, mean)
        )
    return out


def reference(x: Tensor) -> Tensor:
    return _filter(x)


def mutants(x: Tensor) -> dict[str, Tensor]:
    return {
        "zeros outside the image": _filter(x, border="zero"),
        "image wraps round": _filter(x, border="wrapped"),
        "median on odd pixels": _filter(x, parity=1),
        "median everywhere": _filter(x, only="median"),
        "mean everywhere": _filter(x, only="mean"),
        "fourth smallest of nine": _filter(x, rank=3),
    }


def cost(case: Case) -> Cost:
    pixels = case.axes["images"] * case.axes["height"] * case.axes["width"]
    return Cost(bytes=2 * pixels * case.dtype.itemsize, flops=30 * pixels)
