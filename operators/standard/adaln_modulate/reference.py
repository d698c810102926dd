"""Computes a layer norm without weights, and then scales and shifts it by the values of its
sample."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    batch, seq, dim = case.axes["batch"], case.axes["seq"], case.axes["dim"]
    if case.dtype == torch.bfloat16:
        # The values are bounded, so that |y| stays below 1. For a larger |y|, the rounding error of
        # bfloat16 (half a unit in the last place) would be near the tolerance.
        x = rng.uniform((batch, seq, dim), torch.float32, -1.0, 1.0)
        scale = rng.uniform((batch, dim), torch.float32, -0.75, -0.53)
        shift = rng.uniform((batch, dim), torch.float32, -0.1, 0.1)
    else:
        x = rng.normal((batch, seq, dim), torch.float32) + 0.5 * rng.normal(
            (batch, seq, 1), torch.float32
        )
        scale = rng.uniform((batch, dim), torch.float32, -0.4, 0.3)
        shift = rng.uniform((batch, dim), torch.float32, -0.5, 0.5)
    if case.distribution == "tiny":
        # In some rows the variance is as small as eps. The first row of each sample is constant.
        x *= torch.exp2(rng.uniform((batch, seq, 1), torch.float32, -8.0, 0.0))
        x[:, 0] = 0.25
    elif case.distribution == "cancellation":
        x += rng.uniform((batch, seq, 1), torch.float32, -10.0, 10.0)
    elif case.distribution == "spikes":
        x += 3.0 * (rng.uniform((batch, seq, dim), torch.float32, 0.0, 1.0) < 0.05)
    elif case.distribution == "fine":
        # The normalised values are 1 and -1. Each element of y is 1 + scale (in even columns) or
        # shift (in odd columns), so a rounding to bfloat16 shows.
        sign = 1.0 - 2.0 * rng.integers((batch, seq, dim), 0, 2, torch.float32)
        sign[..., dim // 2 : dim // 2 * 2] = -sign[..., : dim // 2]
        x = sign
        scale, shift = rng.fine((batch, dim), high=6.9).abs(), rng.fine((batch, dim))
        scale[:, 1::2], shift[:, ::2] = -1.0, 0.0
    elif case.distribution == "tail":
        x[:, :, : dim // 4] *= 0.1
    return {
        "x": x.to(case.dtype),
        "scale": scale.to(case.dtype),
        "shift": shift.to(case.dtype),
        "eps": 1e-4 if case.distribution == "tiny" else 1e-5,
    }


def reference(x: Tensor, scale: Tensor, shift: Tensor, eps: float) -> Tensor:
    return _modulate(x, scale, shift, eps)


def _modulate(
    x: Tensor,
    scale: Tensor,
    shift: Tensor,
    eps: float,
    one: float = 1.0,
    correction: int = 0,
    centre: float = 1.0,
) -> Tensor:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    value = x.to(wide)
    centred = value - centre * value.mean(dim=-1, keepdim=True)
    variance = centred.square().sum(dim=-1, keepdim=True) / (x.shape[-1] - correction)
    factor, offset = one + scale.to(wide)[:, None], shift.to(wide)[:, None]
    return (centred * torch.rsqrt(variance + eps) * factor + offset).to(x.dtype)


def mutants(
    x: Tensor, scale: Tensor, shift: Tensor, eps: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "one not added to scale": _modulate(x, scale, shift, eps, one=0.0),
        "eps left out": _modulate(x, scale, shift, 0.0),
        "unbiased variance": _modulate(x, scale, shift, eps, correction=1),
        "mean not subtracted": _modulate(x, scale, shift, eps, centre=0.0),
        "modulation of the first sample": _modulate(
            x, scale[:1].expand_as(scale), shift[:1].expand_as(shift), eps
        ),
        "scale and shift exchanged": _modulate(x, shift, scale, eps),
        "shift left out": _modulate(x, scale, torch.zeros_like(shift), eps),
    }


def cost(case: Case) -> Cost:
    batch, seq, dim = case.axes["batch"], case.axes["seq"], case.axes["dim"]
    return Cost(
        bytes=2 * (batch * seq * dim + batch * dim) * case.dtype.itemsize,
        flops=8 * batch * seq * dim,
    )
