"""Computes the maximum of each row and its first index."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32)
    if case.distribution == "ties":
        # x has few different values, and none is exact in bfloat16. Each row contains its maximum
        # about three times. In every seventh row all elements have the same value.
        x = torch.round(x.clamp(-1.5, 1.5)) * 1.2345 + 0.5
        top = rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 3.0 / cols
        top[-1, 0], top[-1, cols // 2] = False, True
        x = x.masked_fill(top, 3.1415)
        x[:-1:7] = -0.7891
    elif case.distribution == "negative":
        x = -1.0 - x.abs()
    elif case.distribution == "minus_infinity":
        hidden = rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < rng.uniform(
            (rows, 1), torch.float32, 0.5, 1.0
        )
        hidden[:, -1] = False
        hidden[1::4] = True
        hidden[-1] = False
        x = x.masked_fill(hidden, float("-inf"))
    elif case.distribution == "tail":
        x[:, cols - 3 :] += 5.0
    return {"x": x}


def reference(x: Tensor) -> tuple[Tensor, Tensor]:
    return _extremum(x, first=True)


def _extremum(x: Tensor, first: bool) -> tuple[Tensor, Tensor]:
    """Does not use torch.max, because PyTorch does not specify which of several equal entries
    torch.max returns."""
    values = x.amax(dim=-1)
    cols = x.shape[-1]
    column = torch.arange(cols, device=x.device)
    found = x == values[:, None]
    if first:
        return values, torch.where(found, column, cols).amin(dim=-1)
    return values, torch.where(found, column, -1).amax(dim=-1)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    values, indices = _extremum(x, first=True)
    skipped = x.clone()
    skipped[:, 0] = float("-inf")
    padded = torch.cat([x, torch.zeros_like(x[:, :1])], dim=1)
    return {
        "last of equal entries": _extremum(x, first=False),
        "largest magnitude": (values, _extremum(x.abs(), first=True)[1]),
        "minimum": _extremum(-x, first=True),
        "index within a block": (values, indices % 128),
        "first column left out": _extremum(skipped, first=True),
        "padding of zeros counts": _extremum(padded, first=True),
        "no index for a row of -inf": (values, torch.where(values.isinf(), -1, indices)),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=4 * rows * cols + 12 * rows, flops=rows * cols)
