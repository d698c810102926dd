"""Computes gelu_tanh(a) * b."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Draws values so that y is uniform from minus a bound to the bound. Even at the bound, the
    rounding error of the dtype is far below the tolerance."""
    rows, cols = case.axes["rows"], case.axes["cols"]
    bound = 0.45 if case.dtype == torch.bfloat16 else 3.5
    a = 1.5 * rng.normal((rows, cols), torch.float32)
    if case.distribution == "extreme":
        kind = rng.integers((rows, cols), 0, 20, torch.int32)
        a = torch.where(kind == 0, -6.0e4 * rng.uniform((rows, cols), torch.float32, 0.0, 1.0), a)
        a = torch.where(kind == 1, rng.uniform((rows, cols), torch.float32, 20.0, 100.0), a)
    a = a.to(case.dtype).float()
    b = bound * rng.uniform((rows, cols), torch.float32, -1.0, 1.0) / _gelu(a).abs().clamp(min=0.5)
    if case.distribution == "tail":
        b[:, : cols - cols // 8] *= 0.05
    a[-1, -1], b[-1, -1] = 1.0, 0.5
    return {"a": a.to(case.dtype), "b": b.to(case.dtype)}


def _gelu(x: Tensor, cubic: float = 0.044715) -> Tensor:
    return 0.5 * x * (1.0 + torch.tanh((2.0 / torch.pi) ** 0.5 * (x + cubic * x**3)))


def reference(a: Tensor, b: Tensor) -> Tensor:
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    return (_gelu(a.to(wide)) * b.to(wide)).to(a.dtype)


def mutants(a: Tensor, b: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    gate, value = a.float(), b.float()
    grown = torch.exp(1.5957691216 * (gate + 0.044715 * gate**3))
    return {
        "gates and values swapped": reference(b, a),
        "cubic term left out": (_gelu(gate, 0.0) * value).to(a.dtype),
        "sigmoid approximation": (gate * torch.sigmoid(1.702 * gate) * value).to(a.dtype),
        "exponential that overflows": (gate * grown / (grown + 1.0) * value).to(a.dtype),
        "factor 0.5 left out": (2.0 * _gelu(gate) * value).to(a.dtype),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=3 * elements * case.dtype.itemsize, flops=11 * elements)
