"""Computes a stable stream compaction, followed by a fill value."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    return {
        "values": rng.normal((case.axes["n"],), torch.float32),
        "mask": _mask(case, rng),
        "fill": 2.75 if case.distribution == "runs" else -3.25,
    }


def _mask(case: Case, rng: Rng) -> Tensor:
    """Returns a random mask. In the distribution `runs`, it consists of runs of equal values that
    are longer than any block. The first and the last element are always selected."""
    n = case.axes["n"]
    uniform = rng.uniform((n,), torch.float32, 0.0, 1.0)
    if case.distribution == "runs":
        length = max(1, n // 6)
        position = torch.arange(n, device=rng.device)
        mask = (position // length % 2 == 1) ^ (uniform < 0.01)
    else:
        mask = uniform < {"half": 0.5, "sparse": 0.02, "dense": 0.98}[case.distribution]
    mask[0] = True
    mask[-1] = True
    return mask


def _compact(values: Tensor, mask: Tensor, fill: float) -> tuple[Tensor, Tensor]:
    y = torch.full_like(values, fill)
    chosen = values[mask]
    y[: chosen.numel()] = chosen
    return y, mask.sum(dtype=torch.int32).reshape(1)


def reference(values: Tensor, mask: Tensor, fill: float) -> tuple[Tensor, Tensor]:
    return _compact(values, mask, fill)


def mutants(values: Tensor, mask: Tensor, fill: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    y, count = _compact(values, mask, fill)
    selected = int(count)
    swapped = torch.cat([y[:selected].flip(0), y[selected:]])
    return {
        "order reversed": (swapped, count),
        "zeros behind": (_compact(values, mask, 0.0)[0], count),
        "unselected elements behind": (torch.cat([values[mask], values[~mask]]), count),
        "unselected elements instead": _compact(values, ~mask, fill),
        "selected elements left in place": (
            torch.where(mask, values, torch.full_like(values, fill)),
            count,
        ),
        "count of unselected elements": (y, (values.numel() - count).to(torch.int32)),
    }


def cost(case: Case) -> Cost:
    return Cost(bytes=9 * case.axes["n"] + 4, flops=case.axes["n"])
