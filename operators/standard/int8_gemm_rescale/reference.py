"""Computes an int8 matrix product with exact sums, and then rescales it per row and per column."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The scales are chosen so that the entries of c are about 0.6 for every k and distribution."""
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    a = rng.integers((m, k), -127, 128, torch.int8)
    b = rng.integers((n, k), -127, 128, torch.int8)
    size = 73.3 * 73.3 * k**0.5
    if case.distribution == "positive":
        # All products have the same sign. Their sums reach 150 million, which float32 cannot
        # represent exactly.
        a = rng.integers((m, k), 64, 128, torch.int8)
        b = rng.integers((n, k), 64, 128, torch.int8)
        size = 2.5 * 95.5 * 95.5 * k**0.5 * k**0.5 / 4.0
    elif case.distribution == "extreme":
        a = torch.where(
            rng.uniform((m, k), torch.float32, 0.0, 1.0) < 0.5, torch.full_like(a, -128), a
        )
        b = torch.where(
            rng.uniform((n, k), torch.float32, 0.0, 1.0) < 0.5, torch.full_like(b, -128), b
        )
        size = 64.0 * 64.0 * k
    elif case.distribution == "wide":
        # The entries of c are about 2, so that a rounding of the scales to bfloat16 shows.
        size = 0.3 * 73.3 * 73.3 * k**0.5
    elif case.distribution == "tail":
        a[:, : k - k // 8] //= 16
        size = 73.3 * 73.3 * k**0.5 / 3.0
    a_scale = rng.uniform((m,), torch.float32, 0.5, 1.0) * size**-0.5
    b_scale = rng.uniform((n,), torch.float32, 0.5, 1.0) * size**-0.5
    return {"a": a, "b": b, "a_scale": a_scale, "b_scale": b_scale}


def _product(a: Tensor, b: Tensor) -> Tensor:
    """Computes the product in float64, which represents every sum exactly. A float64 product is
    fast on every device; an integer product is not."""
    return a.double() @ b.double().T


def _rescaled(total: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
    wide = total.to(a_scale.dtype) * a_scale[:, None] * b_scale[None, :]
    return wide if a_scale.dtype == torch.float64 else wide.to(torch.float16)


def reference(a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor) -> Tensor:
    return _rescaled(_product(a, b), a_scale, b_scale)


def mutants(
    a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    total = _product(a, b)
    return {
        "row scale left out": _rescaled(
            total, torch.full_like(a_scale, float(a_scale.mean())), b_scale
        ),
        "column scale left out": _rescaled(
            total, a_scale, torch.full_like(b_scale, float(b_scale.mean()))
        ),
        "sums wrap at 16 bits": _rescaled((total + 32768.0) % 65536.0 - 32768.0, a_scale, b_scale),
        "values read as unsigned": _rescaled(_product(a.view(torch.uint8), b), a_scale, b_scale),
    }


def cost(case: Case) -> Cost:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(bytes=m * k + n * k + 2 * m * n + 4 * (m + n), flops=2 * m * n * k)
