"""Computes z = x + y, element by element."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    shape = (case.axes["rows"], case.axes["cols"])
    x = rng.normal(shape, torch.float32)
    y = rng.normal(shape, torch.float32)
    if case.distribution == "cancellation":
        y = 0.25 * y - x
    elif case.distribution == "tail":
        start = shape[0] - shape[0] // 8
        x[:start] *= 0.01
        y[:start] *= 0.01
    return {"x": x, "y": y}


def reference(x: Tensor, y: Tensor) -> Tensor:
    return x + y


def mutants(x: Tensor, y: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    rows, cols = x.shape
    edge = (x + y).clone()
    edge[rows - rows % 32 :] = 0
    corner = (x + y).clone()
    corner[:, cols - cols % 64 :] = 0
    late = (x + y).clone()
    late[rows // 2 :] = (x.roll(rows // 2, 0) + y)[rows // 2 :]
    return {
        "rows behind the last whole tile left out": edge,
        "columns behind the last whole tile left out": corner,
        "x of an earlier tile": late,
        "rounded to float16 on the way": (x.half() + y.half()).float(),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=12 * elements, flops=elements)
