"""Computes the softmax of each row."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32)
    if case.dtype == torch.float16:
        # Keeps cols * y below about 8, so that the rounding error of float16 is below the
        # tolerance.
        x *= 0.5
    if case.distribution == "spikes":
        # The spikes are moderate, so that a probability times `cols` stays below a thousand. At
        # such values, neighbouring float32 numbers differ by less than the tolerance.
        x += 4.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "tail":
        x[:, cols - cols // 8 :] += 2.0
    elif case.distribution == "extreme":
        x += rng.uniform((rows, 1), torch.float32, -1.0e4, 1.0e4)
        hidden = rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.1
        hidden[:, 0] = False
        hidden[:, -1] = False
        x = x.masked_fill(hidden, float("-inf"))
    return {"x": x.to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    compute = x if x.dtype == torch.float64 else x.float()
    return torch.softmax(compute, dim=-1).to(x.dtype)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide = x.float()
    top = wide.amax(dim=-1, keepdim=True)
    return {
        "over the rows": torch.softmax(wide, dim=0).nan_to_num().to(x.dtype),
        "maximum not subtracted": (wide.exp() / wide.exp().sum(dim=-1, keepdim=True)).to(x.dtype),
        "maximum of all rows subtracted": (
            (wide - wide.amax()).exp() / (wide - wide.amax()).exp().sum(dim=-1, keepdim=True)
        ).to(x.dtype),
        "not divided by the sum": (wide - top).exp().to(x.dtype),
        "base two": torch.softmax(wide * 0.6931471805599453, dim=-1).to(x.dtype),
        "logarithm": torch.log_softmax(wide, dim=-1).to(x.dtype),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=2 * elements * case.dtype.itemsize, flops=5 * elements)
