"""Computes RMS normalisation over the last dimension."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    if case.dtype == torch.bfloat16:
        # The values are bounded, so that |y| stays below 1. For a larger |y|, the rounding error of
        # bfloat16 (half a unit in the last place) would be near the tolerance.
        x = rng.uniform((rows, cols), torch.float32, -1.0, 1.0)
        w = rng.uniform((cols,), torch.float32, 0.25, 0.55)
    else:
        x = rng.normal((rows, cols), torch.float32) + 0.5 * rng.normal((rows, 1), torch.float32)
        w = 1.0 + (0.1 * rng.normal((cols,), torch.float32)).clamp(-0.3, 0.3)
    if case.distribution == "tiny":
        # In some rows the mean square is as small as eps. Every fifth row is zero.
        x *= torch.exp2(rng.uniform((rows, 1), torch.float32, -10.0, 0.0))
        x[1::5] = 0.0
    elif case.distribution == "huge":
        x *= 1000.0
    elif case.distribution == "spikes":
        x += 3.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.05)
    elif case.distribution == "tail":
        x[:, : cols // 8] *= 0.1
    return {
        "x": x.to(case.dtype),
        "w": w.to(case.dtype),
        "eps": 1e-4 if case.distribution == "tiny" else 1e-5,
    }


def reference(x: Tensor, w: Tensor, eps: float) -> Tensor:
    return _rms_norm(x, w, eps)


def _rms_norm(x: Tensor, w: Tensor, eps: float, centred: bool = False, divisor: int = 0) -> Tensor:
    wide = x if x.dtype == torch.float64 else x.float()
    if centred:
        wide = wide - wide.mean(dim=-1, keepdim=True)
    mean_square = wide.square().sum(dim=-1, keepdim=True) / (divisor or x.shape[-1])
    return (wide * torch.rsqrt(mean_square + eps) * w.to(wide.dtype)).to(x.dtype)


def mutants(x: Tensor, w: Tensor, eps: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    padded = 1 << x.shape[-1].bit_length()
    return {
        "eps left out": _rms_norm(x, w, 0.0),
        "mean subtracted": _rms_norm(x, w, eps, centred=True),
        "divided by the padded length": _rms_norm(x, w, eps, divisor=padded),
        "weight left out": _rms_norm(x, torch.ones_like(w), eps),
        "weight plus one": _rms_norm(x, w + 1, eps),
        "squares in the input's dtype": _rms_norm(x, w, eps)
        * x.square().sum(dim=-1, keepdim=True).isfinite(),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=(2 * rows * cols + cols) * case.dtype.itemsize, flops=4 * rows * cols)
