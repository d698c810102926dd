"""Computes a float8 e4m3 matrix product with a scale per row and per column."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The scales are chosen so that the entries of c are about 0.4. For the interpreter, the
    tensors are float16 but contain e4m3 values."""
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    a = 20.0 * rng.normal((m, k), torch.float32)
    b = 20.0 * rng.normal((n, k), torch.float32)
    size = 400.0 * k**0.5
    if case.distribution == "positive":
        # All terms have the same sign, so an accumulator with too little precision loses the small
        # terms. The entries of c are about 1.
        a = 20.0 * rng.uniform((m, k), torch.float32, 0.5, 1.5)
        b = 20.0 * rng.uniform((n, k), torch.float32, 0.5, 1.5)
        size = 200.0 * k
    elif case.distribution == "spikes":
        a += 400.0 * (rng.uniform((m, k), torch.float32, 0.0, 1.0) < 0.002)
        size *= 1.5
    elif case.distribution == "wide":
        # The entries of c are about 2, so that a rounding of the scales to bfloat16 shows.
        size *= 0.2
    elif case.distribution == "tail":
        a[:, : k - k // 8] *= 0.02
        size *= 0.35
    a = a.clamp(-448.0, 448.0).to(torch.float8_e4m3fn).to(case.dtype)
    b = b.clamp(-448.0, 448.0).to(torch.float8_e4m3fn).to(case.dtype)
    a_scale = rng.uniform((m,), torch.float32, 0.4, 0.8) * size**-0.5
    b_scale = rng.uniform((n,), torch.float32, 0.4, 0.8) * size**-0.5
    return {"a": a, "b": b, "a_scale": a_scale, "b_scale": b_scale}


def _product(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
    wide = a_scale.dtype
    c = (a.to(wide) @ b.to(wide).T) * a_scale[:, None] * b_scale[None, :]
    return c if wide == torch.float64 else c.to(torch.float16)


def reference(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
    return _product(a, b, a_scale, b_scale)


def mutants(
    a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    whole = a.shape[1] // 16 * 16 - 16
    return {
        "row scale left out": _product(
            a, b, torch.full_like(a_scale, float(a_scale.mean())), b_scale
        ),
        "column scale left out": _product(
            a, b, a_scale, torch.full_like(b_scale, float(b_scale.mean()))
        ),
        "last products left out": _product(a[:, :whole], b[:, :whole], a_scale, b_scale),
        "rounded to e5m2": _product(a.float().to(torch.float8_e5m2), b, a_scale, b_scale),
    }


def cost(case: Case) -> Cost:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(
        bytes=(m * k + n * k) * case.dtype.itemsize + 2 * m * n + 4 * (m + n), flops=2 * m * n * k
    )
