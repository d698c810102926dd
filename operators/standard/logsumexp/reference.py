"""Computes the logsumexp of each row."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Adds an offset to every row. Without the offset, the errors of rounding the inputs to
    bfloat16 would cancel out within a row, and a mutant that rounds would pass."""
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32)
    sign = torch.where(rng.uniform((rows, 1), torch.float32, 0.0, 1.0) < 0.5, -1.0, 1.0)
    offset = sign * rng.uniform((rows, 1), torch.float32, 30.0, 60.0)
    if case.distribution == "extreme":
        # exp of these values overflows or underflows in float32. Some rows are all -inf, but never
        # the last row.
        offset = sign * rng.uniform((rows, 1), torch.float32, 105.0, 115.0)
        hidden = rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.3
        hidden[1::5] = True
        hidden[-1] = False
        x = x.masked_fill(hidden, float("-inf"))
    elif case.distribution == "masked_head":
        x[:, : cols // 3] = float("-inf")
    elif case.distribution == "spikes":
        x += 8.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "tail":
        x[:, cols - cols // 8 :] += 4.0
    return {"x": (x + offset).to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    wide = _wide(x)
    greatest = wide.amax(dim=-1, keepdim=True)
    finite = torch.where(greatest.isinf(), torch.zeros_like(greatest), greatest)
    return finite[:, 0] + torch.exp(wide - finite).sum(dim=-1).log()


def _wide(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.float()


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    y = reference(x)
    greatest = _wide(x).amax(dim=-1)
    missing = (1 << x.shape[-1].bit_length()) - x.shape[-1]
    return {
        "maximum not subtracted": _wide(x).exp().sum(dim=-1).log(),
        "maximum not added back": y - greatest,
        "binary logarithm": greatest + (y - greatest) / 0.6931471805599453,
        "NaN for rows of -inf": torch.where(y.isinf(), float("nan"), y),
        "maximum instead": greatest,
        "padding counts as the maximum": y + torch.log1p(missing * torch.exp(greatest - y)),
        "padding of zeros": torch.logaddexp(y, torch.full_like(y, float(missing)).log()),
        "last column left out": reference(x[:, :-1]),
        "y rounded to float16": y.half().to(y.dtype),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=rows * cols * case.dtype.itemsize + 4 * rows, flops=3 * rows * cols)
