"""Inclusive cumulative sum along the last dimension."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32)
    if case.distribution == "cancellation":
        x[:, 1::2] = 0.2 * x[:, 1::2] - x[:, : cols - cols % 2 : 2]
        x *= 4.0
    elif case.distribution == "spikes":
        x += cols**0.5 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 2.0 / cols)
    elif case.distribution == "tail":
        x[:, : cols - cols // 8] *= 0.1
        x[:, cols - cols // 8 :] *= 2.0
    return {"x": x * cols**-0.5}


def reference(x: Tensor) -> Tensor:
    """Summed in float64 and rounded: no float32 order of summation is privileged."""
    return x.double().cumsum(dim=-1).to(x.dtype)


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=8 * elements, flops=elements)
