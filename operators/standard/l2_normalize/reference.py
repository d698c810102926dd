"""Divides rows by their Euclidean norm."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32)
    eps = 1e-6
    if case.distribution == "tiny":
        # Some norms are below eps, and some are above. Every fourth row is zero, except the last
        # row.
        eps = 0.5
        x *= rng.uniform((rows, 1), torch.float32, 0.2, 2.0) * cols**-0.5
        x[:-1:4] = 0.0
    elif case.distribution == "huge":
        x *= 1500.0
    elif case.distribution == "spikes":
        x += 10.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "tail":
        x[:, : cols - cols // 8] *= 0.1
    return {"x": x.to(case.dtype), "eps": eps}


def reference(x: Tensor, eps: float) -> Tensor:
    wide, norm = _norms(x)
    return (wide / norm.clamp_min(eps)).to(x.dtype)


def _norms(x: Tensor) -> tuple[Tensor, Tensor]:
    wide = x if x.dtype == torch.float64 else x.float()
    return wide, wide.square().sum(dim=-1, keepdim=True).sqrt()


def mutants(x: Tensor, eps: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide, norm = _norms(x)
    finite = x.square().sum(dim=-1, keepdim=True).isfinite()
    return {
        "eps left out": (wide / norm).to(x.dtype),
        "eps added to the norm": (wide / (norm + eps)).to(x.dtype),
        "eps added under the root": (wide / (norm.square() + eps).sqrt()).to(x.dtype),
        "eps bounds the square": (wide / norm.square().clamp_min(eps).sqrt()).to(x.dtype),
        "not the root": (wide / norm.square().clamp_min(eps)).to(x.dtype),
        "sum of magnitudes": (wide / wide.abs().sum(dim=-1, keepdim=True).clamp_min(eps)).to(
            x.dtype
        ),
        "squares in the input's dtype": torch.where(
            finite, (wide / norm.clamp_min(eps)).to(x.dtype), torch.zeros_like(x)
        ),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=2 * elements * case.dtype.itemsize, flops=3 * elements)
