"""Computes the mean over the first dimension."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32) + rng.normal((cols,), torch.float32)
    if case.distribution == "cancellation":
        half = rows // 2
        x[:half] += 50.0
        x[rows - half :] -= 50.0
    elif case.distribution == "spikes":
        x += 20.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.02)
    elif case.distribution == "tail":
        x[: rows - rows // 8] *= 0.1
        x[rows - rows // 8 :] += 2.0
    # The values are multiples of 1/4 plus a small term. A cast to bfloat16 loses this term, except
    # for small values. So all rounding errors have the same sign and do not cancel out over the
    # rows.
    return {"x": (0.25 * torch.round(4.0 * x) + 0.0029).to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    return _wide(x).mean(dim=0)


def _wide(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.float()


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    rows, cols = x.shape
    y = reference(x)
    whole_blocks = rows // 32 * 32
    return {
        "sum instead of mean": y * rows,
        "divided by the columns": y * rows / cols,
        "divided by the padded rows": y * rows / (1 << rows.bit_length()),
        "last row left out": y - _wide(x[-1]) / rows,
        "last partial block left out": _wide(x[:whole_blocks]).sum(dim=0) / rows,
        "mean rounded to float16": y.half().to(y.dtype),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=rows * cols * case.dtype.itemsize + 4 * cols, flops=rows * cols)
