"""Computes a linear layer with bias and exact GELU."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The entries are scaled by k^(-1/4), so that those of the product are O(1) for every k."""
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    a = 0.6 * k**-0.25 * rng.normal((m, k), torch.float32)
    b = k**-0.25 * rng.normal((k, n), torch.float32)
    bias = rng.uniform((n,), torch.float32, -0.5, 0.5)
    if case.distribution == "negative":
        # Most arguments of GELU are near -1, where the curvature of GELU is large.
        bias -= 1.0
    elif case.distribution == "picks":
        # Each element of the product is one element of a or b. A rounding to bfloat16 shows.
        a, b = rng.picks(m, k, n)
        bias = 0.0 * bias
    elif case.distribution == "swell":
        # Accumulators need more bits than float16 has. The products of odd columns cancel
        # completely, so a rounding of bias to bfloat16 shows there.
        a, b = rng.swells(m, k, n)
        half = k // 2
        b[half : 2 * half, 1::2] = b[:half, 1::2]
        bias = rng.fine((n,)).abs()
        bias[::2] = 0.0
    elif case.distribution == "tail":
        a[:, : k - k // 8] *= 0.1
        a[:, k - k // 8 :] *= 2.0
    return {"a": a.to(case.dtype), "b": b.to(case.dtype), "bias": bias.to(case.dtype)}


def reference(a: Tensor, b: Tensor, bias: Tensor) -> Tensor:
    return _gelu(_product(a, b) + bias).to(a.dtype)


def _product(a: Tensor, b: Tensor) -> Tensor:
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    return a.to(wide) @ b.to(wide)


def _gelu(t: Tensor) -> Tensor:
    return 0.5 * t * (1.0 + torch.erf(t * 0.5**0.5))


def mutants(a: Tensor, b: Tensor, bias: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    whole = a.shape[1] // 32 * 32
    t = _product(a, b) + bias
    return {
        "bias left out": _gelu(_product(a, b)).to(a.dtype),
        "bias added after gelu": (_gelu(_product(a, b)) + bias).to(a.dtype),
        "sigmoid approximation": (t * torch.sigmoid(1.702 * t)).to(a.dtype),
        "tail of k left out": _gelu(_product(a[:, :whole], b[:whole]) + bias).to(a.dtype),
    }


def cost(case: Case) -> Cost:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(bytes=2 * (m * k + k * n + m * n + n), flops=2 * m * n * k + 10 * m * n)
