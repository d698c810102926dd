"""Computes a four-level orthonormal Haar transform, soft-thresholds the details, and inverts the
transform."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

LEVELS = 4


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], 16 * case.axes["blocks"]
    x = rng.normal((rows, cols), torch.float32)
    tau = torch.tensor([0.3, 0.5, 0.2, 0.8], dtype=torch.float32, device=rng.device)
    if case.distribution == "smooth":
        # The input is a wave with noise: most fine details are below their threshold, and most
        # coarse details are above theirs. One level has a threshold of 0.
        at = torch.arange(cols, dtype=torch.float32, device=rng.device) * 0.11
        x = 2.0 * torch.sin(at + rng.uniform((rows, 1), torch.float32, 0.0, 6.0)) + 0.15 * x
        tau = torch.tensor([0.25, 0.0, 0.4, 0.6], dtype=torch.float32, device=rng.device)
    elif case.distribution == "steps":
        # The input consists of integers, each repeated four times, with little noise. So most
        # details are near 0, and the others are far above their thresholds.
        x = (
            rng.integers((rows, cols // 4), -6, 7, torch.int32).float().repeat_interleave(4, dim=1)
            + 0.05 * x
        )
    elif case.distribution == "tail":
        x[:, : cols - cols // 8] *= 0.1
    return {"x": x, "tau": tau}


def _shrink(d: Tensor, tau: Tensor) -> Tensor:
    return d.sign() * (d.abs() - tau).clamp_min(0.0)


def _haar(
    x: Tensor,
    tau: Tensor,
    levels: int = LEVELS,
    hard: bool = False,
    s: float = 0.5**0.5,
    coarse_too: bool = False,
) -> Tensor:
    coarse = x
    details = []
    for level in range(levels):
        even, odd = coarse[:, 0::2], coarse[:, 1::2]
        d = (even - odd) * s
        details.append(
            torch.where(d.abs() > tau[level], d, 0.0) if hard else _shrink(d, tau[level])
        )
        coarse = (even + odd) * s
    if coarse_too:
        coarse = _shrink(coarse, tau[levels - 1])
    for d in reversed(details):
        coarse = torch.stack(((coarse + d) / (2.0 * s), (coarse - d) / (2.0 * s)), dim=-1).flatten(
            1
        )
    return coarse


def reference(x: Tensor, tau: Tensor) -> Tensor:
    return _haar(x, tau)


def mutants(x: Tensor, tau: Tensor) -> dict[str, Tensor]:
    return {
        "three levels": _haar(x, tau, levels=3),
        "hard threshold": _haar(x, tau, hard=True),
        "averages in place of the orthonormal form": _haar(x, tau, s=0.5),
        "thresholds in reverse order": _haar(x, tau.flip(0)),
        "coarse part shrunk too": _haar(x, tau, coarse_too=True),
        "one threshold for all levels": _haar(x, tau[:1].expand(LEVELS)),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * 16 * case.axes["blocks"]
    return Cost(bytes=4 * (2 * elements + LEVELS), flops=8 * elements)
