"""Computes the gradient of the softmax of each row."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    logits = rng.normal((rows, cols), torch.float32)
    dy = rng.normal((rows, cols), torch.float32)
    if case.distribution == "offset":
        dy += rng.uniform((rows, 1), torch.float32, -10.0, 10.0)
    elif case.distribution == "spikes":
        # The spikes are moderate, so that a probability times `cols` stays below a thousand. At
        # such values, neighbouring float32 numbers differ by less than the tolerance.
        logits += 3.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.01)
        dy += 5.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "tail":
        logits[:, cols - cols // 8 :] += 2.0
        dy[:, : cols - cols // 8] *= 0.1
    elif case.distribution == "zeros":
        hidden = rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.3
        hidden[:, 0] = False
        hidden[:, -1] = False
        logits = logits.masked_fill(hidden, float("-inf"))
    return {"dy": dy, "y": torch.softmax(logits, dim=-1)}


def reference(dy: Tensor, y: Tensor) -> Tensor:
    return (dy - (dy * y).sum(dim=-1, keepdim=True)) * y


def mutants(dy: Tensor, y: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    dot = (dy * y).sum(dim=-1, keepdim=True)
    return {
        "sum left out": dy * y,
        "sum of dy, not of dy * y": (dy - dy.sum(dim=-1, keepdim=True)) * y,
        "mean instead of sum": (dy - dot / y.shape[-1]) * y,
        "diagonal only": dy * y * (1.0 - y),
        "not multiplied by y": dy - dot,
        "sum not multiplied by y": dy * y - dot,
        "gradient of the logarithm": dy - y * dy.sum(dim=-1, keepdim=True),
        "last column left out of the sum": (dy - dot + dy[:, -1:] * y[:, -1:]) * y,
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=12 * elements, flops=4 * elements)
