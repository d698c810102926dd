"""Multiplies float16 activations by packed 4-bit weights."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

GROUP = 128


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    m, n, groups = case.axes["m"], case.axes["n"], case.axes["groups"]
    k = GROUP * groups
    x = rng.normal((m, k), torch.float32)
    packed = rng.integers((n, k // 2), 0, 256, torch.uint8)
    zero = rng.integers((n, groups), 5, 11, torch.uint8)
    scale = rng.uniform((n, groups), torch.float32, 0.5, 1.2) * (0.2 * k**-0.5)
    if case.distribution == "zeros":
        # The zero points are at the limits of the range.
        zero = 15 * rng.integers((n, groups), 0, 2, torch.uint8)
        scale *= 0.5
    elif case.distribution in ("fine", "swell"):
        # Nearly all weights are 0. `fine`: each element of c is one element of x (in even columns)
        # or of scale (in odd columns, times 1 or -1), so a rounding to bfloat16 shows. `swell`:
        # accumulators need more bits than float16 has.
        return _exact(case, rng)
    elif case.distribution == "tail":
        # The last group counts most. If there are few groups, half of the scale keeps c below 8.
        x[:, : k - GROUP] *= 0.1
        x[:, k - GROUP :] *= 3.0
        scale *= 0.5 if groups < 4 else 1.0
    return {
        "x": x.to(torch.float16),
        "packed": packed,
        "scale": scale.to(torch.float16),
        "zero": zero,
    }


def _exact(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Makes the inputs of the distributions `fine` and `swell`, for two or more groups."""
    m, n, groups = case.axes["m"], case.axes["n"], case.axes["groups"]
    k = GROUP * groups
    zero = torch.zeros((n, groups), dtype=torch.uint8, device=rng.device)
    scale = torch.ones((n, groups), device=rng.device)
    if case.distribution == "swell":
        x, b = rng.swells(m, k, n)
        q = (4.0 * b).T.round()
        scale *= 0.25
    else:
        x = rng.fine((m, k))
        x[:, GROUP:] = x[:, GROUP:].sign()
        q = torch.zeros((n, k), device=rng.device)
        column = torch.arange(n, device=rng.device)
        q[column, rng.integers((n,), 0, GROUP) + GROUP * (column % 2)] = 1.0
        scale[1::2] = rng.fine(scale[1::2].shape)
    low, high = q.reshape(n, groups, 2, GROUP // 2).to(torch.uint8).unbind(2)
    packed = (low + 16 * high).reshape(n, k // 2).contiguous()
    return {
        "x": x.to(torch.float16),
        "packed": packed,
        "scale": scale.to(torch.float16),
        "zero": zero,
    }


def _halves(packed: Tensor) -> Tensor:
    """Returns first the low nibbles and then the high nibbles, with shape (n, groups, 2, 64)."""
    parts = packed.reshape(packed.shape[0], -1, GROUP // 2)
    return torch.stack((parts & 15, parts >> 4), dim=2)


def _product(x: Tensor, q: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    """Multiplies x by the unpacked weights. q has the shape (n, groups, 128)."""
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    weight = q.to(wide).sub_(zero.to(wide)[:, :, None]).mul_(scale.to(wide)[:, :, None])
    return (x.to(wide) @ weight.flatten(1).T).to(x.dtype)


def reference(x: Tensor, packed: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    return _product(x, _halves(packed).flatten(2), scale, zero)


def mutants(
    x: Tensor, packed: Tensor, scale: Tensor, zero: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    halves = _halves(packed)
    return {
        "nibbles exchanged": _product(x, halves.flip(2).flatten(2), scale, zero),
        "nibbles taken as neighbours": _product(x, halves.transpose(2, 3).flatten(2), scale, zero),
        "zero point left out": _product(x, halves.flatten(2), scale, torch.zeros_like(zero)),
        "zero point 8 for all": _product(x, halves.flatten(2), scale, torch.full_like(zero, 8)),
        "scale of the first group for all": _product(
            x, halves.flatten(2), scale[:, :1].expand_as(scale), zero
        ),
    }


def cost(case: Case) -> Cost:
    m, n, groups = case.axes["m"], case.axes["n"], case.axes["groups"]
    k = GROUP * groups
    return Cost(bytes=2 * m * k + n * k // 2 + 3 * n * groups + 2 * m * n, flops=2 * m * n * k)
