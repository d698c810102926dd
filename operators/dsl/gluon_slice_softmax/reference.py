"""Computes the softmax of each row."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32)
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
    return {"x": x}


def reference(x: Tensor) -> Tensor:
    return torch.softmax(x, dim=-1)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    padding = torch.zeros((x.shape[0], 1), dtype=x.dtype, device=x.device)
    weight = torch.exp(x)
    return {
        "maximum not subtracted": weight / weight.sum(-1, keepdim=True),
        "masked column counts as a 0": torch.softmax(torch.cat([x, padding], dim=-1), dim=-1)[
            :, :-1
        ].contiguous(),
        "normalised over rows": torch.softmax(x, dim=0),
        "last column left out of the sum": torch.exp(
            x - torch.logsumexp(x[:, :-1], dim=-1, keepdim=True)
        ),
        "maximum of the whole matrix": torch.exp(x - x.max())
        / torch.exp(x - x.max()).sum(-1, keepdim=True),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=8 * elements, flops=5 * elements)
