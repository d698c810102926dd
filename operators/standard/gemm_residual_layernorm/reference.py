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
    if case.distribution in ("fine", "swell"):
        # r cancels the product, so an error of the product is large against the variance. In `fine`
        # the product consists of elements of a or b, and half of the rows have a variance of 1, so
        # a rounding of a, b, gamma or beta to bfloat16 shows. In `swell`, accumulators of the
        # product need more bits than float16 has.
        a, b = rng.picks(m, k, n) if case.distribution == "fine" else rng.swells(m, k, n)
        sign = 1.0 - 2.0 * rng.integers((m, n), 0, 2, torch.float32)
        sign[:, 1::2] = -sign[:, : n - n % 2 : 2]
        r = sign / 64.0 - a @ b
    if case.distribution == "fine":
        for first in (2, 3):
            a[first::4], r[first::4] = 0.0, sign[first::4]
        gamma, beta = rng.fine((n,), high=7.5), rng.fine((n,), high=7.5)
        gamma[::4], gamma[1::4], beta[2::4], beta[3::4] = 0.25, 0.25, 0.0, 0.0
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
