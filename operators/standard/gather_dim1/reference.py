"""Gathers along the second dimension."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

SECTOR = 8  # the elements in 32 bytes, the smallest part of its memory that a GPU reads


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols, picks = case.axes["rows"], case.axes["cols"], case.axes["picks"]
    indices = rng.integers((rows, picks), 0, cols, torch.int32)
    if case.distribution == "last":
        indices[:, ::3] = cols - 1
    elif case.distribution == "hot":
        hot = rng.uniform((rows, picks), torch.float32, 0.0, 1.0) < 0.9
        indices = torch.where(hot, indices[:, :1], indices)
    return {"x": rng.normal((rows, cols), torch.float32), "indices": indices}


def reference(x: Tensor, indices: Tensor) -> Tensor:
    return torch.gather(x, 1, indices.long())


def mutants(x: Tensor, indices: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    flat = x.reshape(-1)
    row = torch.arange(x.shape[0], device=x.device)[:, None]
    return {
        "row offset of the wrong width": flat[(row * indices.shape[1] + indices) % flat.numel()],
        "indices of the first row for all": torch.gather(
            x, 1, indices[:1].long().expand_as(indices)
        ),
        "row offset left out": flat[indices.long()],
        "last column never read": torch.gather(
            x, 1, indices.long().clamp(max=max(0, x.shape[1] - 2))
        ),
    }


def read_of_a_row(case: Case) -> float:
    """Returns how many elements of a row of x must be read, on average. A GPU reads sectors. Of two
    thirds (`last`) or a tenth (`hot`) of the picks, each chooses any column."""
    cols, picks = case.axes["cols"], case.axes["picks"]
    free = picks * {"last": 2 / 3, "hot": 0.1}.get(case.distribution, 1.0)
    sectors = max(1.0, cols / SECTOR)
    return min(picks, cols * (1 - (1 - 1 / sectors) ** free))


def cost(case: Case) -> Cost:
    rows, cols, picks = case.axes["rows"], case.axes["cols"], case.axes["picks"]
    read = read_of_a_row(case)
    return Cost(bytes=4 * rows * (read + 2 * picks), flops=0, untouched=4 * rows * (cols - read))
