"""Computes layer normalisation over the last dimension."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32) + rng.normal((rows, 1), torch.float32)
    if case.distribution == "cancellation":
        x += rng.uniform((rows, 1), torch.float32, -30.0, 30.0)
    elif case.distribution == "spikes":
        # Spikes dominate the variance, but the normalised values stay below about 10.
        x += 10.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.02)
    elif case.distribution == "tail":
        x[:, : cols - cols // 8] *= 0.1
    elif case.distribution == "flat":
        # The variances are near eps. So a kernel that adds eps at the wrong place, for example
        # after the square root, gives a visible error.
        x *= 10.0 ** rng.uniform((rows, 1), torch.float32, -3.0, -2.0)
    w = 1.0 + 0.2 * rng.normal((cols,), torch.float32)
    b = 0.5 * rng.normal((cols,), torch.float32)
    return {
        "x": x.to(case.dtype),
        "w": w.to(case.dtype),
        "b": b.to(case.dtype),
        "eps": 3e-5 if case.distribution == "flat" else 1e-5,
    }


def reference(x: Tensor, w: Tensor, b: Tensor, eps: float) -> Tensor:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    compute = x.to(wide)
    centred = compute - compute.mean(dim=-1, keepdim=True)
    variance = (centred * centred).mean(dim=-1, keepdim=True)
    return (centred * torch.rsqrt(variance + eps) * w.to(wide) + b.to(wide)).to(x.dtype)


def mutants(x: Tensor, w: Tensor, b: Tensor, eps: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide = x.float()
    centred = wide - wide.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    one, none = torch.ones_like(w), torch.zeros_like(b)

    def scaled(y: Tensor) -> Tensor:
        return (y * w.float() + b.float()).to(x.dtype)

    return {
        "eps left out": reference(x, w, b, 0.0),
        "eps added to the deviation": scaled(centred / (variance.sqrt() + eps)),
        "variance over cols - 1": scaled(
            centred * torch.rsqrt(variance * x.shape[-1] / (x.shape[-1] - 1) + eps)
        ),
        "mean not subtracted": scaled(wide * torch.rsqrt(variance + eps)),
        "root mean square": scaled(
            wide * torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + eps)
        ),
        "weight left out": reference(x, one, b, eps),
        "bias left out": reference(x, w, none, eps),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=(2 * rows * cols + 2 * cols) * case.dtype.itemsize, flops=8 * rows * cols)
