"""Transposes a matrix."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    x = rng.normal((case.axes["rows"], case.axes["cols"]), torch.float32)
    if case.distribution == "magnitudes":
        low, high = (-24, 13) if case.dtype == torch.float16 else (-130, 120)
        x *= torch.exp2(rng.integers(x.shape, low, high, torch.int32).float())
    elif case.distribution == "extreme":
        x *= 10.0 ** rng.uniform(x.shape, torch.float32, -30.0, 30.0)
    return {"x": x.to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    return x.t().contiguous()


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    rows, cols = x.shape
    turned = x.t().contiguous()
    tiles = turned.clone()
    edge = 32
    for top in range(0, rows - edge + 1, edge):
        for left in range(0, cols - edge + 1, edge):
            tiles[left : left + edge, top : top + edge] = x[top : top + edge, left : left + edge]
    return {
        "only reshaped": x.reshape(cols, rows).clone(),
        "tiles moved but not turned": tiles,
        "columns in reverse": turned.flip(0),
        "rows in reverse": turned.flip(1),
    }


def cost(case: Case) -> Cost:
    return Cost(bytes=2 * case.axes["rows"] * case.axes["cols"] * case.dtype.itemsize, flops=0)
