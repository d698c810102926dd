"""Computes the softmax of a few very long rows."""

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
        x += 3.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "tail":
        x[:, cols - cols // 8 :] += 2.0
    elif case.distribution == "rising":
        # The running maximum increases along the whole row.
        x = 0.5 * x + torch.linspace(-3.0, 3.0, cols, device=rng.device)
    elif case.distribution == "masked_head":
        x[:, : 2 * cols // 3] = float("-inf")
    elif case.distribution == "extreme":
        sign = torch.where(rng.uniform((rows, 1), torch.float32, 0.0, 1.0) < 0.5, -1.0, 1.0)
        x += sign * rng.uniform((rows, 1), torch.float32, 150.0, 300.0)
        hidden = rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.2
        hidden[:, -1] = False
        x = x.masked_fill(hidden, float("-inf"))
    return {"x": x}


def reference(x: Tensor) -> Tensor:
    return torch.softmax(x, dim=-1)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    cols = x.shape[-1]
    blocks = [x[:, start : start + 4096] for start in range(0, cols, 4096)]
    greatest = x.amax(dim=-1, keepdim=True)
    total = torch.exp(x - greatest).sum(dim=-1, keepdim=True)
    running = torch.full_like(greatest, float("-inf"))
    careless, stale = torch.zeros_like(greatest), torch.zeros_like(greatest)
    for block in blocks:
        new = torch.maximum(running, block.amax(dim=-1, keepdim=True))
        careless = careless * torch.exp(running - new) + torch.exp(block - new).sum(
            dim=-1, keepdim=True
        )
        stale = stale + torch.exp(block - new.clamp_min(-3.0e38)).sum(dim=-1, keepdim=True)
        running = new
    weight = torch.exp(x - greatest)
    return {
        "maximum not subtracted": x.exp() / x.exp().sum(dim=-1, keepdim=True),
        "NaN where the running maximum is -inf": weight / careless,
        "sum not rescaled": weight / stale,
        "each block on its own": torch.cat(
            [torch.softmax(block, dim=-1) for block in blocks], dim=-1
        ),
        "last block left out of the sum": weight
        / torch.exp(x[:, : cols // 4096 * 4096] - greatest).sum(dim=-1, keepdim=True),
        "padding counts as the maximum": weight / (total + (4096 - cols % 4096)),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=8 * elements, flops=5 * elements)
