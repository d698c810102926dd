"""Computes the layer normalisation of a product plus a residual."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In the distribution `offset`, the means of the rows are far from zero. In `tiny`, the
    variances are about as large as eps."""
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    a = k**-0.25 * rng.normal((m, k), torch.float32)
    b = k**-0.25 * rng.normal((k, n), torch.float32)
    r = rng.normal((m, n), torch.float32)
    if case.distribution == "offset":
        r += 3.0 * rng.normal((m, 1), torch.float32)
    elif case.distribution == "level":
        # The rows have a mean near 16 and a small variance, so that a rounding of r to bfloat16
        # shows.
        a *= 0.3
        r = 16.0 + 0.3 * r
    elif case.distribution == "tiny":
        a *= 0.01
        r *= 0.01
    gamma = rng.uniform((n,), torch.float32, 0.3, 0.65)
    beta = rng.uniform((n,), torch.float32, -0.3, 0.3)
    tensors = {"a": a, "b": b, "r": r, "gamma": gamma, "beta": beta}
    return {
        **{name: value.to(case.dtype) for name, value in tensors.items()},
        "eps": 3e-4 if case.distribution == "tiny" else 1e-4,
    }


def reference(a: Tensor, b: Tensor, r: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    return _norm(_product(a, b) + r, gamma, beta, eps)


def _product(a: Tensor, b: Tensor) -> Tensor:
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    return a.to(wide) @ b.to(wide)


def _norm(h: Tensor, gamma: Tensor, beta: Tensor, eps: float, lost: int = 0) -> Tensor:
    centred = h - h.mean(dim=-1, keepdim=True)
    var = centred.square().sum(dim=-1, keepdim=True) / (h.shape[1] - lost)
    return (centred / (var + eps).sqrt() * gamma + beta).to(gamma.dtype)


def mutants(
    a: Tensor, b: Tensor, r: Tensor, gamma: Tensor, beta: Tensor, eps: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    product = _product(a, b)
    h = product + r
    rms = h / (h.square().mean(dim=-1, keepdim=True) + eps).sqrt() * gamma + beta
    return {
        "residual left out": _norm(product, gamma, beta, eps),
        "residual added after the norm": (_norm(product, gamma, beta, eps) + r).to(a.dtype),
        "eps left out": _norm(h, gamma, beta, 0.0),
        "unbiased variance": _norm(h, gamma, beta, eps, lost=1),
        "mean not subtracted": rms.to(a.dtype),
        "beta left out": _norm(h, gamma, torch.zeros_like(beta), eps),
    }


def cost(case: Case) -> Cost:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(bytes=2 * (m * k + k * n + 2 * m * n + 2 * n), flops=2 * m * n * k + 8 * m * n)
