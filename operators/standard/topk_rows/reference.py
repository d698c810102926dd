"""Finds the k largest entries of each row and their indices."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Adding 0 turns -0 into 0. Multiples of 0.337 are not exact in bfloat16, so a cast to bfloat16
    changes them."""
    rows, cols, k = case.axes["rows"], case.axes["cols"], case.axes["k"]
    x = rng.normal((rows, cols), torch.float32)
    if case.distribution == "ties":
        x = (2.0 * x).round() * 0.337 + 0.0
    elif case.distribution == "masked":
        # Half of the rows have fewer finite entries than k.
        share = torch.where(torch.arange(rows, device=rng.device) % 2 == 1, 0.9, 0.4)[:, None]
        x = x.masked_fill(rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < share, float("-inf"))
        x[:, cols // 2] = 0.25
    elif case.distribution == "tail":
        x[:, : cols - cols // 8] -= 3.0
    return {"x": x, "k": k}


def _ranked(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    ranked = torch.sort(x, dim=1, descending=True, stable=True)
    return ranked.values[:, :k].contiguous(), ranked.indices[:, :k].to(torch.int32)


def reference(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    return _ranked(x, k)


def mutants(x: Tensor, k: int) -> dict[str, Tensor | tuple[Tensor, ...]]:
    cols = x.shape[1]
    values, indices = _ranked(x, k)
    back_values, back = _ranked(x.flip(1), k)
    _, magnitude = _ranked(x.abs(), k)
    by_column = indices.sort(dim=1).values
    return {
        "ties to the last": (back_values, (cols - 1 - back).to(torch.int32)),
        "ascending": (values.flip(1), indices.flip(1)),
        "in order of columns": (x.gather(1, by_column.long()), by_column),
        "by magnitude": (x.gather(1, magnitude.long()), magnitude),
        "smallest": (-_ranked(-x, k)[0], _ranked(-x, k)[1]),
        "first half of the row": _ranked(
            x.clone().index_fill_(1, torch.arange((cols + 1) // 2, cols, device=x.device), -1e30), k
        ),
    }


def cost(case: Case) -> Cost:
    rows, cols, k = case.axes["rows"], case.axes["cols"], case.axes["k"]
    return Cost(bytes=4 * rows * cols + 8 * rows * k, flops=rows * cols)
