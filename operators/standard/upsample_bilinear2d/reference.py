"""Computes bilinear resampling with half-pixel centres."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    shape = (case.axes["batch"], case.axes["channels"], case.axes["height"], case.axes["width"])
    x = rng.normal(shape, torch.float32)
    if case.distribution == "spikes":
        x = 0.2 * x + 4.0 * (rng.uniform(shape, torch.float32, 0.0, 1.0) < 0.05)
    elif case.distribution == "smooth":
        x = 0.02 * x + torch.linspace(-3.0, 3.0, shape[2], device=rng.device)[:, None]
    return {"x": x, "out_height": case.axes["out_height"], "out_width": case.axes["out_width"]}


def reference(x: Tensor, out_height: int, out_width: int) -> Tensor:
    return _resample(
        x, _half_pixel(x.shape[2], out_height, x), _half_pixel(x.shape[3], out_width, x)
    )


def _half_pixel(size: int, out_size: int, x: Tensor, least: float = 0.0) -> Tensor:
    """Returns the position of each output pixel in units of input pixels. The numerator is an
    integer, so float64 rounds only once."""
    i = torch.arange(out_size, dtype=torch.float64, device=x.device)
    return (((2.0 * i + 1.0) * size - out_size) / (2.0 * out_size)).clamp_min(least)


def _resample(x: Tensor, u: Tensor, v: Tensor) -> Tensor:
    def places(at: Tensor, size: int) -> tuple[Tensor, Tensor, Tensor]:
        low = at.floor()
        first = low.long().clamp(0, size - 1)
        return first, (low.long() + 1).clamp(0, size - 1), (at - low).to(x.dtype)

    i0, i1, a = places(u, x.shape[2])
    j0, j1, b = places(v, x.shape[3])
    rows = (1 - a)[:, None] * x[:, :, i0] + a[:, None] * x[:, :, i1]
    return (1 - b) * rows[..., j0] + b * rows[..., j1]


def mutants(x: Tensor, out_height: int, out_width: int) -> dict[str, Tensor | tuple[Tensor, ...]]:
    height, width = x.shape[2:]
    u, v = _half_pixel(height, out_height, x), _half_pixel(width, out_width, x)

    def corners(size: int, out_size: int) -> Tensor:
        return torch.linspace(0.0, size - 1.0, out_size, dtype=torch.float64, device=x.device)

    def origin(size: int, out_size: int) -> Tensor:
        return torch.arange(out_size, dtype=torch.float64, device=x.device) * size / out_size

    # A mutant: an output before the first row's centre is extrapolated, with a negative weight. The
    # error is visible only if there are at least two rows.
    beyond = torch.cat([2 * x[:, :, :1] - x[:, :, min(1, height - 1) :][:, :, :1], x], dim=2)
    return {
        "corners aligned": _resample(x, corners(height, out_height), corners(width, out_width)),
        "corner of the pixel instead of its centre": _resample(
            x, origin(height, out_height), origin(width, out_width)
        ),
        "nearest": _resample(x, (u + 0.5).floor(), (v + 0.5).floor()),
        "one direction only": _resample(x, (u + 0.5).floor(), v),
        "first rows extrapolated": _resample(
            beyond, 1 + _half_pixel(height, out_height, x, -1.0), v
        ),
    }


def cost(case: Case) -> Cost:
    planes = case.axes["batch"] * case.axes["channels"]
    outputs = case.axes["out_height"] * case.axes["out_width"]
    return Cost(
        bytes=4 * planes * (case.axes["height"] * case.axes["width"] + outputs),
        flops=9 * planes * outputs,
    )
