"""Computes the running maximum and the column where it was first reached."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32)
    slope = torch.arange(cols, device=rng.device) / cols
    if case.distribution == "ties":
        # There are few distinct values, and none is a short binary fraction. Adding zero turns -0.0
        # into 0.0.
        x = (3.0 * x + 12.0 * slope).round() * 0.3 + 0.0
    elif case.distribution == "falling":
        x -= 20.0 * slope
    elif case.distribution == "masked":
        x += 6.0 * slope
        hidden = rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.5
        hidden[:, : cols // 3] = True
        hidden[:, -1] = False
        x = x.masked_fill(hidden, float("-inf"))
    else:
        x += 6.0 * slope
    return {"x": x}


def _running(x: Tensor) -> tuple[Tensor, Tensor]:
    values = torch.cummax(x, dim=-1).values
    column = torch.arange(x.shape[-1], device=x.device).expand_as(x)
    # An index is the column of the last value that exceeded all values before it. torch.cummax
    # would return the last of equal elements.
    fresh = torch.ones_like(x, dtype=torch.bool)
    fresh[:, 1:] = x[:, 1:] > values[:, :-1]
    indices = torch.cummax(torch.where(fresh, column, torch.zeros_like(column)), dim=-1).values
    return values, indices.to(torch.int32)


def reference(x: Tensor) -> tuple[Tensor, Tensor]:
    return _running(x)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    values, indices = _running(x)
    rows, cols = x.shape
    blocks = torch.nn.functional.pad(x, (0, -cols % 256), value=float("-inf")).reshape(-1, 256)
    piece = [part.reshape(rows, -1)[:, :cols] for part in _running(blocks)]
    low, low_indices = _running(-x)
    return {
        "the last of equal elements": (values, torch.cummax(x, dim=-1).indices.to(torch.int32)),
        "indices within the block": (values, indices % 256),
        "blocks of 256 without a carry": tuple(piece),
        "running minimum": (-low, low_indices),
        "indices into the whole matrix": (
            values,
            indices + torch.arange(rows, device=x.device, dtype=torch.int32)[:, None] * cols,
        ),
    }


def shortcuts(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    """Computes each quarter of a row from only this quarter and the quarter before it."""
    quarter = -(-x.shape[1] // 4)
    values, indices = [], []
    for begin in range(0, x.shape[1], quarter):
        first = max(0, begin - quarter)
        most, index = reference(x[:, first : begin + quarter])
        values.append(most[:, begin - first :])
        indices.append(index[:, begin - first :] + first)
    return {"forget_past": (torch.cat(values, 1), torch.cat(indices, 1).to(torch.int32))}


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=12 * elements, flops=elements)
