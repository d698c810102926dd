"""Computes the instance normalisation of an NCHW tensor."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    batch, channels, height, width = (
        case.axes[name] for name in ("batch", "channels", "height", "width")
    )
    shape, per_plane = (batch, channels, height, width), (batch, channels, 1, 1)
    x = rng.normal(shape, torch.float32) * rng.uniform(
        per_plane, torch.float32, 0.6, 1.5
    ) + rng.normal(per_plane, torch.float32)
    if case.distribution == "cancellation":
        x += rng.uniform(per_plane, torch.float32, -30.0, 30.0)
    elif case.distribution == "tiny":
        # In some planes the variance is as small as eps. The first plane is constant.
        x *= torch.exp2(rng.uniform(per_plane, torch.float32, -8.0, 0.0))
        x[0, 0] = 0.25
    elif case.distribution == "spikes":
        x += 10.0 * (rng.uniform(shape, torch.float32, 0.0, 1.0) < 0.02)
    elif case.distribution == "tail":
        x[:, :, : height - height // 8] *= 0.1
    return {"x": x, "eps": 1e-4 if case.distribution == "tiny" else 1e-5}


def reference(x: Tensor, eps: float) -> Tensor:
    return _normalise(x, eps, (2, 3))


def _normalise(x: Tensor, eps: float, dims: tuple[int, ...], correction: int = 0) -> Tensor:
    centred = x - x.mean(dim=dims, keepdim=True)
    count = x[0, 0].numel() if dims == (2, 3) else x[0].numel()
    return centred * torch.rsqrt(
        centred.square().sum(dim=dims, keepdim=True) / (count - correction) + eps
    )


def mutants(x: Tensor, eps: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    centred = x - x.mean(dim=(2, 3), keepdim=True)
    deviation = centred.square().mean(dim=(2, 3), keepdim=True).sqrt()
    return {
        "eps left out": _normalise(x, 0.0, (2, 3)),
        "unbiased variance": _normalise(x, eps, (2, 3), correction=1),
        "statistics per sample": _normalise(x, eps, (1, 2, 3)),
        "eps added to the deviation": centred / (deviation + eps),
        "mean not subtracted": x * torch.rsqrt(x.square().mean(dim=(2, 3), keepdim=True) + eps),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["batch"] * case.axes["channels"] * case.axes["height"] * case.axes["width"]
    return Cost(bytes=8 * elements, flops=7 * elements)
