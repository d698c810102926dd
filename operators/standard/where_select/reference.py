"""Computes cond ? x : y. The condition is broadcast over the middle dimension."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    batch, rows, cols = case.axes["batch"], case.axes["rows"], case.axes["cols"]
    x = rng.normal((batch, rows, cols), torch.float32)
    y = rng.normal((batch, rows, cols), torch.float32)
    cond = rng.integers((batch, 1, cols), 0, 2, torch.int32).bool()
    if case.distribution == "special":
        # Both inputs contain NaN and infinity, because values that are not selected must not affect
        # the result.
        kind = rng.integers((batch, rows, cols), 0, 32, torch.int32)
        x = x.masked_fill(kind == 0, float("nan")).masked_fill(kind == 1, float("inf"))
        y = y.masked_fill(kind == 2, float("nan")).masked_fill(kind == 3, float("-inf"))
        x[-1, -1, -1] = y[-1, -1, -1] = 0.75
    elif case.distribution == "runs":
        # The condition has long runs of equal values. In some batch entries it is constant.
        cond = (
            (torch.arange(cols, device=rng.device) // 100 % 2 == 0).expand(batch, 1, cols).clone()
        )
        cond[::3] = True
        cond[1::5] = False
    return {"cond": cond, "x": x.to(case.dtype), "y": y.to(case.dtype)}


def reference(cond: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return torch.where(cond, x, y)


def mutants(cond: Tensor, x: Tensor, y: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    chosen = cond.to(x.dtype)
    batch, rows, cols = x.shape
    row = torch.arange(rows, device=x.device) % cols
    return {
        "arms swapped": torch.where(cond, y, x),
        "arithmetic selection": chosen * x + (1 - chosen) * y,
        "condition of the first batch entry for all": torch.where(cond[:1], x, y),
        "condition read along the rows": torch.where(cond[:, 0, row].reshape(batch, rows, 1), x, y),
    }


def cost(case: Case) -> Cost:
    batch, rows, cols = case.axes["batch"], case.axes["rows"], case.axes["cols"]
    return Cost(
        bytes=3 * batch * rows * cols * case.dtype.itemsize + batch * cols,
        flops=batch * rows * cols,
    )
