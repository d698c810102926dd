"""Flips the columns and then rolls them."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    shifts = {
        "forward": 5,
        "magnitudes": 5,
        "backward": -37,
        "beyond": 3 * cols + 11,
        "none": 0,
        "far_back": -2 * cols - 1,
    }
    x = rng.normal((rows, cols), torch.float32)
    if case.distribution == "magnitudes":
        x *= torch.exp2(rng.integers(x.shape, -130, 120, torch.int32).float())
    return {"x": x, "shift": shifts[case.distribution]}


def reference(x: Tensor, shift: int) -> Tensor:
    return torch.roll(torch.flip(x, dims=(1,)), shift, dims=1)


def mutants(x: Tensor, shift: int) -> dict[str, Tensor | tuple[Tensor, ...]]:
    cols = x.shape[1]
    limited = max(-cols, min(cols, shift))
    return {
        "rolled before the flip": torch.flip(torch.roll(x, shift, dims=1), dims=(1,)),
        "not flipped": torch.roll(x, shift, dims=1),
        "rows flipped": torch.roll(torch.flip(x, dims=(0,)), shift, dims=1),
        "rolled across rows": torch.roll(torch.flip(x, dims=(1,)), shift),
        "off by one": reference(x, shift + 1),
        "shift limited to one turn": reference(x, limited),
        "sign of the shift lost": reference(x, abs(shift)),
    }


def cost(case: Case) -> Cost:
    return Cost(bytes=8 * case.axes["rows"] * case.axes["cols"], flops=0)
