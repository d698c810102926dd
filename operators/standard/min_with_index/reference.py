"""Computes the minimum and its first index over the middle dimension."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    shape = (case.axes["batch"], case.axes["length"], case.axes["inner"])
    x = rng.normal(shape, torch.float32)
    if case.distribution == "ties":
        # x has few different values, and none is exact in bfloat16. Each column contains its
        # minimum about twice. In every seventh column all elements have the same value.
        x = torch.round(x.clamp(-1.5, 1.5)) * 1.2345 + 0.5
        x = x.masked_fill(rng.uniform(shape, torch.float32, 0.0, 1.0) < 2.0 / shape[1], -3.1415)
        x[:, :, 2::7] = 0.7891
    elif case.distribution == "positive":
        x = 1.0 + x.abs()
    elif case.distribution == "infinity":
        hidden = rng.uniform(shape, torch.float32, 0.0, 1.0) < rng.uniform(
            (shape[0], 1, shape[2]), torch.float32, 0.5, 1.0
        )
        hidden[:, -1] = False
        hidden[1::3] |= rng.uniform((1, 1, shape[2]), torch.float32, 0.0, 1.0) < 0.5
        hidden[-1] = False
        x = x.masked_fill(hidden, float("inf"))
    elif case.distribution == "tail":
        x[:, shape[1] - 3 :] -= 5.0
    return {"x": x}


def reference(x: Tensor) -> tuple[Tensor, Tensor]:
    return _extremum(x, first=True)


def _extremum(x: Tensor, first: bool) -> tuple[Tensor, Tensor]:
    """Does not use torch.min, because PyTorch does not specify which of several equal entries
    torch.min returns."""
    values = x.amin(dim=1)
    length = x.shape[1]
    place = torch.arange(length, device=x.device)[:, None]
    found = x == values[:, None]
    if first:
        return values, torch.where(found, place, length).amin(dim=1)
    return values, torch.where(found, place, -1).amax(dim=1)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    values, indices = _extremum(x, first=True)
    batch, length, inner = x.shape
    column = torch.arange(inner, device=x.device)
    padded = torch.cat([x, torch.zeros_like(x[:, :1])], dim=1)
    return {
        "last of equal entries": _extremum(x, first=False),
        "maximum": _extremum(-x, first=True),
        "smallest magnitude": (values, _extremum(x.abs(), first=True)[1]),
        "index into the sample, not along the dimension": (values, indices * inner + column),
        "index within a block": (values, indices % 32),
        "padding of zeros counts": _extremum(padded, first=True),
        "reduced over the last dimension": _extremum(
            x.reshape(batch, inner, length).transpose(1, 2), first=True
        ),
    }


def cost(case: Case) -> Cost:
    outputs = case.axes["batch"] * case.axes["inner"]
    return Cost(
        bytes=4 * outputs * case.axes["length"] + 12 * outputs, flops=outputs * case.axes["length"]
    )
