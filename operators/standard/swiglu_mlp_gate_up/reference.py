"""Computes the gate and up projections of a SwiGLU layer."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In the distribution `negative`, most gates are below zero, where silu is not monotonic."""
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    x = rng.normal((m, k), torch.float32)
    w_gate = rng.normal((k, n), torch.float32)
    w_up = rng.normal((k, n), torch.float32)
    if case.distribution == "negative":
        x += 0.5
        w_gate -= 2.0 * k**-0.5
    elif case.distribution == "tail":
        x[:, : k - k // 8] *= 0.1
        x[:, k - k // 8 :] *= 2.0
    scale = k**-0.25
    return {
        "x": (scale * x).to(case.dtype),
        "w_gate": (scale * w_gate).to(case.dtype),
        "w_up": (scale * w_up).to(case.dtype),
    }


def reference(x: Tensor, w_gate: Tensor, w_up: Tensor) -> Tensor:
    return torch.nn.functional.silu(_product(x, w_gate)) * _product(x, w_up)


def _product(a: Tensor, b: Tensor) -> Tensor:
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    return a.to(wide) @ b.to(wide)


def mutants(x: Tensor, w_gate: Tensor, w_up: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    gate, up = _product(x, w_gate), _product(x, w_up)
    whole = x.shape[1] // 32 * 32
    return {
        "gate and up exchanged": reference(x, w_up, w_gate),
        "gelu instead of silu": torch.nn.functional.gelu(gate) * up,
        "sigmoid instead of silu": torch.sigmoid(gate) * up,
        "gate rounded to bfloat16": torch.nn.functional.silu(gate).to(torch.bfloat16).float() * up,
        "tail of k left out": reference(x[:, :whole], w_gate[:whole], w_up[:whole]),
    }


def cost(case: Case) -> Cost:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(
        bytes=(m * k + 2 * k * n) * case.dtype.itemsize + 4 * m * n, flops=4 * m * n * k + 6 * m * n
    )
