"""Computes batch normalisation with given statistics."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    batch, channels, height, width = (
        case.axes[name] for name in ("batch", "channels", "height", "width")
    )
    shape = (batch, channels, height, width)
    eps = 1e-3 if case.distribution == "tiny" else 1e-5
    mean = rng.normal((channels,), torch.float32)
    var = rng.uniform((channels,), torch.float32, 0.2, 3.0)
    if case.distribution == "cancellation":
        mean *= 10.0
    elif case.distribution == "tiny":
        # In some channels the variance is as small as eps. In every third channel it is zero.
        var *= torch.exp2(rng.uniform((channels,), torch.float32, -17.0, 0.0))
        var[1::3] = 0.0
        mean *= 0.01
    deviation = (var + eps).sqrt()
    normal = rng.normal(shape, torch.float32)
    if case.distribution == "spikes":
        normal = torch.where(
            rng.uniform(shape, torch.float32, 0.0, 1.0) < 0.01, 0.5 * normal + 3.0, normal
        )
    # The statistics differ slightly from those of x, as in inference.
    x = (1.1 * normal.clamp(-4.5, 4.5) + 0.2) * deviation[:, None, None] + mean[:, None, None]
    w = 1.0 + (0.2 * rng.normal((channels,), torch.float32)).clamp(-0.4, 0.3)
    b = rng.uniform((channels,), torch.float32, -0.5, 0.5)
    return {"x": x.to(case.dtype), "mean": mean, "var": var, "w": w, "b": b, "eps": eps}


def reference(x: Tensor, mean: Tensor, var: Tensor, w: Tensor, b: Tensor, eps: float) -> Tensor:
    wide = x.to(w.dtype)
    scale = torch.rsqrt(var + eps) * w
    return ((wide - mean[:, None, None]) * scale[:, None, None] + b[:, None, None]).to(x.dtype)


def mutants(
    x: Tensor, mean: Tensor, var: Tensor, w: Tensor, b: Tensor, eps: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wide = x.to(w.dtype)
    measured_mean = wide.mean(dim=(0, 2, 3))
    measured_var = (wide - measured_mean[:, None, None]).square().mean(dim=(0, 2, 3))
    return {
        "eps left out": reference(x, mean, var, w, b, 0.0),
        "eps added to the deviation": reference(x, mean, (var.sqrt() + eps).square(), w, b, 0.0),
        "statistics of the batch": reference(x, measured_mean, measured_var, w, b, eps),
        "variance taken for the deviation": reference(x, mean, var.square(), w, b, eps),
        "bias left out": reference(x, mean, var, w, torch.zeros_like(b), eps),
        "weight left out": reference(x, mean, var, torch.ones_like(w), b, eps),
    }


def cost(case: Case) -> Cost:
    channels = case.axes["channels"]
    elements = case.axes["batch"] * channels * case.axes["height"] * case.axes["width"]
    return Cost(bytes=2 * elements * case.dtype.itemsize + 16 * channels, flops=4 * elements)
