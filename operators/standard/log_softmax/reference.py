"""Computes the log-softmax of each row."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32)
    if case.distribution == "steep":
        # Some probabilities are below e^-104, which float32 cannot represent.
        x *= 22.0
    elif case.distribution == "tail":
        x[:, cols - cols // 8 :] += 4.0
    elif case.distribution == "extreme":
        x += rng.uniform((rows, 1), torch.float32, -200.0, 200.0)
        hidden = rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.1
        hidden[:, 0] = False
        hidden[:, -1] = False
        x = x.masked_fill(hidden, float("-inf"))
    return {"x": x.to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    wide = _wide(x)
    centred = wide - wide.amax(dim=-1, keepdim=True)
    return centred - centred.exp().sum(dim=-1, keepdim=True).log()


def _wide(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.float()


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    y = reference(x)
    wide = _wide(x)
    total = (wide - wide.amax(dim=-1, keepdim=True)).exp().sum(dim=-1, keepdim=True)
    missing = (1 << x.shape[-1].bit_length()) - x.shape[-1]
    return {
        "maximum not subtracted": wide - wide.exp().sum(dim=-1, keepdim=True).log(),
        "log of a rounded softmax": torch.softmax(wide, dim=-1).to(torch.float32).log(),
        "softmax instead": y.exp(),
        "logarithm left out": y + total.log() - total,
        "binary logarithm": y + total.log() - total.log2(),
        "y rounded to float16": y.half().to(y.dtype),
        "padding counts as the maximum": y + total.log() - (total + missing).log(),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=elements * (case.dtype.itemsize + 4), flops=5 * elements)
