"""Multiplies float16 activations by int8 weights with a scale per output channel."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    x = rng.normal((m, k), torch.float32)
    w = rng.integers((n, k), -127, 128, torch.int8)
    size = k**-0.5 / 73.3
    if case.distribution == "positive":
        # All terms have the same sign, so an accumulator with too little precision loses the small
        # terms.
        x = rng.uniform((m, k), torch.float32, 0.5, 1.5)
        w = rng.integers((n, k), 32, 128, torch.int8)
        size = 2.0 / k / 80.0
    elif case.distribution == "picks":
        # Each element of the product is one element of x. A rounding to bfloat16 shows.
        x = rng.normal((m, k), torch.float32).sign() * rng.uniform((m, k), torch.float32, 4.0, 7.9)
        w = torch.zeros_like(w)
        w[torch.arange(n, device=rng.device), rng.integers((n,), 0, k)] = 64
        size = 1.0 / 64.0
    elif case.distribution == "swell":
        # Accumulators need more bits than float16 has.
        x, b = rng.swells(m, k, n)
        w = (16.0 * b).T.contiguous().to(torch.int8)
        return {
            "x": x.to(torch.float16),
            "w": w,
            "scale": torch.full((n,), 1.0 / 16.0, device=rng.device),
        }
    elif case.distribution == "tail":
        x[:, : k - k // 8] *= 0.1
        x[:, k - k // 8 :] *= 2.0
    scale = rng.uniform((n,), torch.float32, 0.3, 0.8)
    if case.distribution == "picks":
        scale[::2] = 1.0
    return {"x": x.to(torch.float16), "w": w, "scale": scale * size}


def _product(x: Tensor, w: Tensor, scale: Tensor) -> Tensor:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    return ((x.to(wide) @ w.to(wide).T) * scale.to(wide)).to(x.dtype)


def reference(x: Tensor, w: Tensor, scale: Tensor) -> Tensor:
    return _product(x, w, scale)


def mutants(x: Tensor, w: Tensor, scale: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "one scale for all channels": _product(x, w, torch.full_like(scale, float(scale.mean()))),
        "weights read as unsigned": _product(x, w.view(torch.uint8), scale),
        "weights offset by 128": _product(x, w.to(torch.int16) - 128, scale),
        "last products left out": _product(
            x[:, : x.shape[1] // 16 * 16 - 16], w[:, : x.shape[1] // 16 * 16 - 16], scale
        ),
    }


def cost(case: Case) -> Cost:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(bytes=2 * m * k + n * k + 2 * m * n + 4 * n, flops=2 * m * n * k)
