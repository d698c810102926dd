"""Computes the inclusive cumulative sum along the last dimension."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32)
    if case.distribution == "cancellation":
        x[:, 1::2] = 0.2 * x[:, 1::2] - x[:, : cols - cols % 2 : 2]
        x *= 4.0
    elif case.distribution == "spikes":
        x += cols**0.5 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 2.0 / cols)
    elif case.distribution == "tail":
        x[:, : cols - cols // 8] *= 0.1
        x[:, cols - cols // 8 :] *= 2.0
    return {"x": x * cols**-0.5}


def reference(x: Tensor) -> Tensor:
    """Sums in float64 and rounds once, so that no particular float32 summation order is
    favoured."""
    return x.double().cumsum(dim=-1).to(x.dtype)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide = x.double()
    blocks = torch.nn.functional.pad(wide, (0, -x.shape[-1] % 1024)).reshape(x.shape[0], -1, 1024)
    return {
        "exclusive": (wide.cumsum(-1) - wide).to(x.dtype),
        "from the end": wide.flip(-1).cumsum(-1).flip(-1).to(x.dtype),
        "runs on into the next row": wide.reshape(-1).cumsum(0).reshape(x.shape).to(x.dtype),
        "blocks of 1024 without a carry": blocks.cumsum(-1)
        .reshape(x.shape[0], -1)[:, : x.shape[-1]]
        .to(x.dtype),
        "carry of the last block only": _last_carry(blocks)[:, : x.shape[-1]].to(x.dtype),
    }


def _last_carry(blocks: Tensor) -> Tensor:
    """Starts each block with the sum of the previous block instead of the sum of all previous
    blocks."""
    totals = torch.nn.functional.pad(blocks.sum(-1), (1, 0))[:, :-1]
    return (blocks.cumsum(-1) + totals[..., None]).reshape(blocks.shape[0], -1)


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=8 * elements, flops=elements)
