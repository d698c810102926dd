"""Computes a linear layer with a low-rank update."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Both terms of the output, x @ w and s * (x @ a) @ b, are O(1) for every k and r. In the
    distribution `update`, w is small, so that the low-rank term is the larger one."""
    m, n, k, r = case.axes["m"], case.axes["n"], case.axes["k"], case.axes["r"]
    x = 0.6 * k**-0.25 * rng.normal((m, k), torch.float32)
    w = k**-0.25 * rng.normal((k, n), torch.float32)
    a = k**-0.25 * rng.normal((k, r), torch.float32)
    b = r**-0.5 * rng.normal((r, n), torch.float32)
    if case.distribution == "update":
        w *= 0.1
    elif case.distribution == "picks":
        # Each element of x @ w is one element of x or of w. A rounding to bfloat16 shows.
        x, w = rng.picks(m, k, n)
        x *= 0.75
        w *= 0.75
        a *= 0.02
    elif case.distribution == "fine":
        # Each element of y is one element of a or of b. A rounding to bfloat16 shows.
        a, b = rng.picks(k, r, n)
        x, w = torch.zeros_like(x), torch.zeros_like(w)
        x[torch.arange(m, device=rng.device), rng.integers((m,), 0, k)] = 1.0
    elif case.distribution == "swell":
        # Accumulators of x @ w need more bits than float16 has.
        x, w = rng.swells(m, k, n)
        a = torch.zeros_like(a)
    elif case.distribution == "tail":
        x[:, : k - k // 8] *= 0.1
        x[:, k - k // 8 :] *= 2.0
        b[: r - r // 8] *= 0.3
    tensors = {"x": x, "w": w, "a": a, "b": b}
    s = {"tail": 0.5, "fine": 1.0}.get(case.distribution, 0.625)
    return {**{name: value.to(case.dtype) for name, value in tensors.items()}, "s": s}


def reference(x: Tensor, w: Tensor, a: Tensor, b: Tensor, s: float) -> Tensor:
    return (_product(x, w) + s * _product(_product(x, a), b)).to(x.dtype)


def _product(a: Tensor, b: Tensor) -> Tensor:
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    return a.to(wide) @ b.to(wide)


def mutants(
    x: Tensor, w: Tensor, a: Tensor, b: Tensor, s: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    rank = a.shape[1] - 1
    whole = x.shape[1] // 32 * 32
    return {
        "update left out": _product(x, w).to(x.dtype),
        "s forgotten": reference(x, w, a, b, 1.0),
        "s applied to both parts": (s * (_product(x, w) + _product(_product(x, a), b))).to(x.dtype),
        "last rank left out": reference(x, w, a[:, :rank], b[:rank], s),
        "tail of k left out": reference(x[:, :whole], w[:whole], a[:whole], b, s),
    }


def cost(case: Case) -> Cost:
    m, n, k, r = case.axes["m"], case.axes["n"], case.axes["k"], case.axes["r"]
    return Cost(
        bytes=2 * (m * k + k * n + k * r + r * n + m * n), flops=2 * m * n * k + 2 * m * r * (k + n)
    )
