"""Computes the group normalisation of an NCHW tensor."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    batch, channels, height, width = (
        case.axes[name] for name in ("batch", "channels", "height", "width")
    )
    groups = case.axes["groups"]
    shape = (batch, channels, height, width)
    # The channels of a group differ in mean and magnitude. So a kernel that computes statistics per
    # channel or over all channels gives wrong results.
    x = rng.normal(shape, torch.float32) * rng.uniform(
        (batch, channels, 1, 1), torch.float32, 0.7, 1.3
    )
    x += 0.4 * rng.normal((batch, channels, 1, 1), torch.float32)
    per_group = (batch, groups, 1, 1, 1)
    grouped = x.reshape(batch, groups, channels // groups, height, width)
    if case.distribution == "cancellation":
        grouped = grouped + rng.uniform(per_group, torch.float32, -30.0, 30.0)
    elif case.distribution == "tiny":
        # In some groups the variance is as small as eps. The first group of the first sample is
        # constant.
        grouped = grouped * torch.exp2(rng.uniform(per_group, torch.float32, -8.0, 0.0))
        grouped[0, 0] = 0.25
    elif case.distribution == "spikes":
        grouped = grouped + 3.0 * (rng.uniform(grouped.shape, torch.float32, 0.0, 1.0) < 0.03)
    w = 1.0 + (0.2 * rng.normal((channels,), torch.float32)).clamp(-0.4, 0.3)
    b = rng.uniform((channels,), torch.float32, -0.5, 0.5)
    return {
        "x": grouped.reshape(shape).to(case.dtype),
        "w": w.to(case.dtype),
        "b": b.to(case.dtype),
        "groups": groups,
        "eps": 1e-4 if case.distribution == "tiny" else 1e-5,
    }


def reference(x: Tensor, w: Tensor, b: Tensor, groups: int, eps: float) -> Tensor:
    return _group_norm(x, w, b, groups, eps)


def _group_norm(
    x: Tensor, w: Tensor, b: Tensor, groups: int, eps: float, correction: int = 0
) -> Tensor:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    grouped = x.to(wide).reshape(x.shape[0], groups, -1)
    centred = grouped - grouped.mean(dim=-1, keepdim=True)
    variance = centred.square().sum(dim=-1, keepdim=True) / (grouped.shape[-1] - correction)
    normalised = (centred * torch.rsqrt(variance + eps)).reshape(x.shape)
    return (normalised * w.to(wide)[:, None, None] + b.to(wide)[:, None, None]).to(x.dtype)


def mutants(
    x: Tensor, w: Tensor, b: Tensor, groups: int, eps: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    channels = x.shape[1]
    in_group = torch.arange(channels, device=x.device) % (channels // groups)
    interleaved = torch.arange(channels, device=x.device).reshape(groups, -1).T.reshape(-1)
    strided = torch.empty_like(x)
    strided[:, interleaved] = _group_norm(
        x[:, interleaved], w[interleaved], b[interleaved], groups, eps
    )
    return {
        "eps left out": _group_norm(x, w, b, groups, 0.0),
        "unbiased variance": _group_norm(x, w, b, groups, eps, correction=1),
        "statistics per channel": _group_norm(x, w, b, channels, eps),
        "statistics per sample": _group_norm(x, w, b, 1, eps),
        "weight and bias by place in the group": _group_norm(
            x, w[in_group], b[in_group], groups, eps
        ),
        "groups of strided channels": strided,
        "bias left out": _group_norm(x, w, torch.zeros_like(b), groups, eps),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["batch"] * case.axes["channels"] * case.axes["height"] * case.axes["width"]
    return Cost(
        bytes=(2 * elements + 2 * case.axes["channels"]) * case.dtype.itemsize, flops=8 * elements
    )
