"""Computes a residual sum and its RMS normalisation."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    if case.dtype == torch.bfloat16:
        # The values are bounded, so that |s| and |y| stay below 1. For larger values, the rounding
        # error of bfloat16 (half a unit in the last place) would be near the tolerance.
        x = rng.uniform((rows, cols), torch.float32, -0.49, 0.49)
        residual = rng.uniform((rows, cols), torch.float32, -0.49, 0.49)
        w = rng.uniform((cols,), torch.float32, 0.2, 0.38)
    else:
        x = 0.7 * rng.normal((rows, cols), torch.float32) + 0.3 * rng.normal(
            (rows, 1), torch.float32
        )
        residual = 0.7 * rng.normal((rows, cols), torch.float32) + 0.3 * rng.normal(
            (rows, 1), torch.float32
        )
        w = 1.0 + (0.1 * rng.normal((cols,), torch.float32)).clamp(-0.3, 0.3)
    if case.distribution == "tiny":
        # In some rows the mean square is as small as eps. Every fifth row is zero.
        size = torch.exp2(rng.uniform((rows, 1), torch.float32, -10.0, 0.0))
        size[1::5] = 0.0
        size[-1] = 1.0
        x, residual = x * size, residual * size
    elif case.distribution == "cancellation":
        residual = 0.3 * residual - x
    elif case.distribution == "spikes":
        x += 2.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.05)
    elif case.distribution == "fine":
        # The sums are 1 or -1. Each element of y is an element of w or its negative, so a rounding
        # of w to bfloat16 shows.
        x = 0.75 * x.sign()
        residual, w = x / 3.0, rng.fine((cols,))
    elif case.distribution == "tail":
        x[:, : cols // 8] *= 0.1
        residual[:, : cols // 8] *= 0.1
    return {
        "x": x.to(case.dtype),
        "residual": residual.to(case.dtype),
        "w": w.to(case.dtype),
        "eps": 1e-4 if case.distribution == "tiny" else 1e-5,
    }


def reference(x: Tensor, residual: Tensor, w: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    return _add_rms_norm(x, residual, w, eps)


def _add_rms_norm(
    x: Tensor, residual: Tensor, w: Tensor, eps: float, centred: bool = False
) -> tuple[Tensor, Tensor]:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    s = x.to(wide) + residual.to(wide)
    value = s - s.mean(dim=-1, keepdim=True) if centred else s
    y = value * torch.rsqrt(value.square().mean(dim=-1, keepdim=True) + eps) * w.to(wide)
    return s.to(x.dtype), y.to(x.dtype)


def mutants(
    x: Tensor, residual: Tensor, w: Tensor, eps: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    s, y = _add_rms_norm(x, residual, w, eps)
    return {
        "eps left out": _add_rms_norm(x, residual, w, 0.0),
        "mean subtracted": _add_rms_norm(x, residual, w, eps, centred=True),
        "weight left out": _add_rms_norm(x, residual, torch.ones_like(w), eps),
        "x normalised instead of the sum": (s, _add_rms_norm(x, torch.zeros_like(x), w, eps)[1]),
        "s is the residual": (residual, y),
        "s is y": (y, y),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=(4 * rows * cols + cols) * case.dtype.itemsize, flops=5 * rows * cols)
