"""Computes the rotary position embedding of neighbouring pairs in the first part of each head."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

BASE = 10000.0


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    tokens, half_rot = case.axes["tokens"], case.axes["half_rot"]
    x = rng.normal((tokens, case.axes["heads"], 2 * case.axes["half_dim"]), torch.float32).clamp(
        -5.0, 5.0
    )
    if case.distribution == "tail":
        x[: tokens - tokens // 8] *= 0.1
    if case.distribution == "shuffled":
        positions = rng.integers((tokens,), 0, 32768, torch.int64)
    else:
        positions = rng.integers((1,), 1, 64, torch.int64) + torch.arange(tokens, device=rng.device)
    frequencies = BASE ** (-torch.arange(half_rot, device=rng.device).double() / half_rot)
    angles = positions.double()[:, None] * frequencies[None, :]
    if case.distribution == "fine":
        # Even tokens are not turned, so a rounding of x to bfloat16 shows. In the pairs of odd
        # tokens one element is 7 and the other is 0, so a rounding of cos or sin shows.
        angles = rng.uniform(angles.shape, torch.float64, 0.55, 1.0)
        angles[::2] = 0.0
        x = rng.fine(x.shape)
        x[1::2, :, : 2 * half_rot : 2], x[1::2, :, 1 : 2 * half_rot : 2] = 7.0, 0.0
    return {
        "x": x.to(torch.float16),
        "cos": angles.cos().to(torch.float16),
        "sin": angles.sin().to(torch.float16),
    }


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    c, s = cos.to(wide)[:, None, :], sin.to(wide)[:, None, :]
    turned = x.clone()
    first, second = (
        x[..., : 2 * cos.shape[1] : 2].to(wide),
        x[..., 1 : 2 * cos.shape[1] : 2].to(wide),
    )
    turned[..., : 2 * cos.shape[1] : 2] = (first * c - second * s).to(x.dtype)
    turned[..., 1 : 2 * cos.shape[1] : 2] = (second * c + first * s).to(x.dtype)
    return turned


def reference(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return _rotated(x, cos, sin)


def mutants(x: Tensor, cos: Tensor, sin: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    rotary = 2 * cos.shape[1]
    halves = x.clone()
    # A mutant: the half-split rotation, which uses the pairs (i, i + rotary / 2).
    halves[..., :rotary] = (
        x[..., :rotary].unflatten(-1, (2, rotary // 2)).transpose(-1, -2).flatten(-2)
    )
    split = _rotated(halves, cos, sin)
    split[..., :rotary] = (
        split[..., :rotary].unflatten(-1, (rotary // 2, 2)).transpose(-1, -2).flatten(-2)
    )
    cut = _rotated(x, cos, sin)
    cut[..., rotary:] = 0
    return {
        "half-split pairs": split,
        "turned backwards": _rotated(x, cos, -sin),
        "rest of the head left out": cut,
        "angles of the token before": _rotated(x, torch.roll(cos, 1, 0), torch.roll(sin, 1, 0)),
    }


def cost(case: Case) -> Cost:
    tokens = case.axes["tokens"]
    elements = tokens * case.axes["heads"] * 2 * case.axes["half_dim"]
    return Cost(bytes=4 * elements + 4 * tokens * case.axes["half_rot"], flops=3 * elements)
