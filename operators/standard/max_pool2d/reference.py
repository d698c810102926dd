"""Computes 3 x 3 maximum pooling with stride 2 and padding 1."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    x = rng.normal(
        (case.axes["batch"], case.axes["channels"], case.axes["height"], case.axes["width"]),
        torch.float32,
    )
    if case.distribution == "negative":
        # All values are negative. So if a kernel pads with zeros, the padding is always the maximum
        # and the error is visible.
        x = -0.5 - x.abs()
    return {"x": x.to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    return _pool(x, float("-inf"), 1)


def _pool(x: Tensor, outside: float, before: int) -> Tensor:
    """Returns the maximum of nine shifted images. Each window starts `before` pixels before a pixel
    with even indices."""
    rows, columns = (x.shape[2] + 1) // 2, (x.shape[3] + 1) // 2
    padded = torch.nn.functional.pad(x, (before, 3, before, 3), value=outside)
    best = torch.full((*x.shape[:2], rows, columns), float("-inf"), dtype=x.dtype, device=x.device)
    for r in range(3):
        for s in range(3):
            best = torch.maximum(best, padded[:, :, r : r + 2 * rows : 2, s : s + 2 * columns : 2])
    return best


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    blind = x.clone()
    blind[:, :, :, -1] = float("-inf")
    return {
        "zeros outside": _pool(x, 0.0, 1),
        "windows start at the pixel": _pool(x, float("-inf"), 0),
        "last column never read": _pool(blind, float("-inf"), 1),
        "smallest": -_pool(-x, float("-inf"), 1),
        "every second pixel": x[:, :, ::2, ::2].contiguous(),
    }


def cost(case: Case) -> Cost:
    planes = case.axes["batch"] * case.axes["channels"]
    outputs = case.axes["out_height"] * case.axes["out_width"]
    size = case.dtype.itemsize
    return Cost(
        bytes=planes * size * (case.axes["height"] * case.axes["width"] + outputs),
        flops=planes * 8 * outputs,
    )
