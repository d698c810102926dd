"""Computes a float16 product of a transposed matrix and a matrix, accumulated in float32."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """a and b are each scaled by k^(-1/4), so that the entries of c have a variance of about 1 for
    every k."""
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    a = rng.normal((k, m), torch.float32)
    b = rng.normal((k, n), torch.float32)
    if case.distribution == "positive":
        # All terms have the same sign, so an accumulator with too little precision loses the small
        # terms. The entries of c are about 3.
        a = 1.75 * rng.uniform((k, m), torch.float32, 0.5, 1.5)
        b = 1.75 * rng.uniform((k, n), torch.float32, 0.5, 1.5)
    elif case.distribution == "picks":
        # Each element of the product is one element of a or b. A rounding to bfloat16 shows.
        a, b = rng.picks(m, k, n)
        return {"a": a.T.contiguous().to(case.dtype), "b": b.to(case.dtype)}
    elif case.distribution == "swell":
        # Accumulators need more bits than float16 has.
        a, b = rng.swells(m, k, n)
        return {"a": a.T.contiguous().to(case.dtype), "b": b.to(case.dtype)}
    elif case.distribution == "tail":
        a[: k - k // 8] *= 0.1
        a[k - k // 8 :] *= 2.0
    scale = k**-0.5 if case.distribution == "positive" else k**-0.25
    return {"a": (scale * a).to(case.dtype), "b": (scale * b).to(case.dtype)}


def reference(a: Tensor, b: Tensor) -> Tensor:
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    return (a.to(wide).T @ b.to(wide)).to(a.dtype)


def mutants(a: Tensor, b: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    k, m = a.shape
    whole = k // 32 * 32
    return {
        "a read as m x k": reference(a.reshape(m, k).T, b),
        "tail of k left out": reference(a[:whole], b[:whole]),
    }


def cost(case: Case) -> Cost:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(bytes=(m * k + k * n + m * n) * case.dtype.itemsize, flops=2 * m * n * k)
