"""Multiplies a matrix by a vector."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """a and x are each scaled by k^(-1/4), so that the entries of y have a variance of about 1 for
    every k."""
    m, k = case.axes["m"], case.axes["k"]
    a = rng.normal((m, k), torch.float32)
    x = rng.normal((k,), torch.float32)
    if case.distribution == "cancellation":
        half = k // 2
        a[:, half : 2 * half] = 0.3 * a[:, half : 2 * half] - a[:, :half]
        x[half : 2 * half] = x[:half]
    elif case.distribution == "tail":
        x[: k - k // 8] *= 0.1
        x[k - k // 8 :] *= 2.0
    elif case.distribution == "swell":
        # Accumulators need more bits than float16 has.
        a, b = rng.swells(m, k, 1)
        return {"a": a.to(case.dtype), "x": b[:, 0].to(case.dtype)}
    elif case.distribution == "positive":
        # All terms have the same sign and are slightly above bfloat16 numbers. A cast to bfloat16
        # then always rounds in the same direction, so the error is visible in the sum.
        a = (rng.uniform((m, k), torch.float32, 1.0, 4.0) * k**-0.5).to(
            torch.bfloat16
        ).float() * 1.0017
        x = (rng.uniform((k,), torch.float32, 0.5, 1.5) * k**-0.5).to(
            torch.bfloat16
        ).float() * 1.0017
        return {"a": a.to(case.dtype), "x": x.to(case.dtype)}
    return {"a": (k**-0.25 * a).to(case.dtype), "x": (k**-0.25 * x).to(case.dtype)}


def reference(a: Tensor, x: Tensor) -> Tensor:
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    return (a.to(wide) @ x.to(wide)).to(a.dtype)


def mutants(a: Tensor, x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    whole = a.shape[1] // 64 * 64
    return {
        "tail of k left out": reference(a[:, :whole], x[:whole]),
        "last product left out": reference(a[:, :-1], x[:-1]),
        "a read column-major": reference(a.reshape(a.shape[1], a.shape[0]).T, x),
    }


def cost(case: Case) -> Cost:
    m, k = case.axes["m"], case.axes["k"]
    return Cost(bytes=(m * k + k + m) * case.dtype.itemsize, flops=2 * m * k)
