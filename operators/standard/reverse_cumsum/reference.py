"""Computes the inclusive sum from each element to the end of its row."""

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


def _suffix(x: Tensor) -> Tensor:
    """Computes the sums in float64, so that no particular float32 summation order is favoured."""
    return x.double().flip(-1).cumsum(dim=-1).flip(-1)


def reference(x: Tensor) -> Tensor:
    return _suffix(x).to(x.dtype)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide = x.double()
    flat = _suffix(x.reshape(1, -1)).reshape(x.shape)
    blocks = torch.nn.functional.pad(wide, (0, -x.shape[-1] % 1024)).reshape(x.shape[0], -1, 1024)
    return {
        "sums from the start": wide.cumsum(-1).to(x.dtype),
        "exclusive": (_suffix(x) - wide).to(x.dtype),
        "runs on into the next row": flat.to(x.dtype),
        "blocks of 1024 without a carry": _suffix(blocks)
        .reshape(x.shape[0], -1)[:, : x.shape[-1]]
        .to(x.dtype),
        "result left reversed": _suffix(x).flip(-1).to(x.dtype),
    }


def shortcuts(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    """Computes each quarter of a row from only this quarter and the quarter after it."""
    quarter = -(-x.shape[1] // 4)
    parts = [
        reference(x[:, begin : begin + 2 * quarter])[:, :quarter]
        for begin in range(0, x.shape[1], quarter)
    ]
    return {"forget_past": torch.cat(parts, 1)}


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=8 * elements, flops=elements)
