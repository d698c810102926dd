"""Computes silu(first half) * second half."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Draws values so that y is uniform from minus a bound to the bound. Even at the bound, the
    rounding error of the dtype is far below the tolerance."""
    rows, cols = case.axes["rows"], case.axes["cols"]
    bound = 0.45 if case.dtype == torch.bfloat16 else 3.5
    gate = 1.5 * rng.normal((rows, cols), torch.float32)
    if case.distribution == "extreme":
        kind = rng.integers((rows, cols), 0, 20, torch.int32)
        gate = torch.where(
            kind == 0, -6.0e4 * rng.uniform((rows, cols), torch.float32, 0.0, 1.0), gate
        )
        gate = torch.where(kind == 1, rng.uniform((rows, cols), torch.float32, 20.0, 100.0), gate)
    gate = gate.to(case.dtype).float()
    silu = gate * torch.sigmoid(gate)
    value = bound * rng.uniform((rows, cols), torch.float32, -1.0, 1.0) / silu.abs().clamp(min=0.5)
    if case.distribution == "tail":
        value[:, : cols - cols // 8] *= 0.05
    gate[-1, -1], value[-1, -1] = 1.0, 0.5
    return {"x": torch.cat([gate, value], dim=1).to(case.dtype)}


def _gated(gate: Tensor, value: Tensor) -> Tensor:
    wide = torch.float64 if gate.dtype == torch.float64 else torch.float32
    gate = gate.to(wide)
    return (gate * torch.sigmoid(gate) * value.to(wide)).to(value.dtype)


def reference(x: Tensor) -> Tensor:
    gate, value = x.chunk(2, dim=1)
    return _gated(gate, value)


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    gate, value = x.chunk(2, dim=1)
    grown = torch.exp(gate.float())
    return {
        "halves swapped": _gated(value, gate),
        "halves interleaved": _gated(x[:, 0::2], x[:, 1::2]),
        "sigmoid for silu": (torch.sigmoid(gate.float()) * value.float()).to(x.dtype),
        "exponential that overflows": (gate.float() * grown / (1.0 + grown) * value.float()).to(
            x.dtype
        ),
        "gelu for silu": (torch.nn.functional.gelu(gate.float()) * value.float()).to(x.dtype),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=3 * elements * case.dtype.itemsize, flops=6 * elements)
