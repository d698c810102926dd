"""Sorts rows in ascending order."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Adding 0 turns -0 into 0. Multiples of 0.337 are not exact in bfloat16, so a cast to bfloat16
    changes them."""
    rows, cols = case.axes["rows"], case.axes["cols"]
    if case.dtype == torch.int32:
        x = rng.integers((rows, cols), -(2**31), 2**31, torch.int32)
        if case.distribution == "extreme":
            ends = torch.where(
                rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.5, -(2**31), 2**31 - 1
            ).to(torch.int32)
            x = torch.where(rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.1, ends, x)
        return {"x": x}
    x = rng.normal((rows, cols), torch.float32)
    if case.distribution == "few":
        x = (2.0 * x).round() * 0.337 + 0.0
    elif case.distribution == "extreme":
        x *= 10.0 ** rng.uniform((rows, cols), torch.float32, -30.0, 30.0)
        x = x.masked_fill(rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.02, float("inf"))
        x = x.masked_fill(rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.02, float("-inf"))
    elif case.distribution == "descending":
        x = x.sort(dim=1, descending=True).values
    return {"x": x}


def reference(x: Tensor) -> Tensor:
    return torch.sort(x, dim=1).values


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    cols = x.shape[1]
    power = 1 << (cols - 1).bit_length()
    padded = torch.nn.functional.pad(x, (0, power - cols))
    blocks = torch.nn.functional.pad(
        x, (0, -cols % 64), value=2**31 - 1 if x.dtype == torch.int32 else float("inf")
    )
    order = torch.argsort(x.abs() if x.is_floating_point() else x.long() % 2**32, dim=1)
    return {
        "descending": torch.sort(x, dim=1, descending=True).values,
        "padded with zeros": torch.sort(padded, dim=1).values[:, :cols].contiguous(),
        "sorted by blocks of 64 only": blocks.unflatten(1, (-1, 64))
        .sort(dim=2)
        .values.flatten(1)[:, :cols]
        .contiguous(),
        "sign left out of the order": x.gather(1, order),
        "last column left out": torch.cat((torch.sort(x[:, :-1], dim=1).values, x[:, -1:]), dim=1),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=8 * rows * cols, flops=rows * cols)
