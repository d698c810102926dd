"""Computes the rotary position embedding in its half-split form."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

BASE = 10000.0


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    tokens, half = case.axes["tokens"], case.axes["half_dim"]
    shapes = ((tokens, case.axes["q_heads"], 2 * half), (tokens, case.axes["kv_heads"], 2 * half))
    if case.distribution == "bounded":
        q, k = (rng.uniform(shape, torch.float32, -0.7, 0.7) for shape in shapes)
    else:
        q, k = (rng.normal(shape, torch.float32).clamp(-5.0, 5.0) for shape in shapes)
    if case.distribution == "tail":
        q[: tokens - tokens // 8] *= 0.1
        k[: tokens - tokens // 8] *= 0.1
    if case.distribution == "shuffled":
        positions = rng.integers((tokens,), 0, 32768, torch.int64)
    else:
        positions = rng.integers((1,), 1, 64, torch.int64) + torch.arange(tokens, device=rng.device)
    frequencies = BASE ** (-torch.arange(half, device=rng.device).double() / half)
    angles = positions.double()[:, None] * frequencies[None, :]
    if case.distribution == "fine":
        # Even tokens are not turned, so a rounding of q or k to bfloat16 shows. In the pairs of odd
        # tokens one element is 7 and the other is 0, so a rounding of cos or sin shows.
        angles = rng.uniform(angles.shape, torch.float64, 0.55, 1.0)
        angles[::2] = 0.0
        q, k = rng.fine(shapes[0]), rng.fine(shapes[1])
        for x in (q, k):
            x[1::2, :, :half], x[1::2, :, half:] = 7.0, 0.0
    return {
        "q": q.to(case.dtype),
        "k": k.to(case.dtype),
        "cos": angles.cos().to(case.dtype),
        "sin": angles.sin().to(case.dtype),
    }


def reference(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    c, s = cos.to(wide)[:, None, :], sin.to(wide)[:, None, :]
    rotated = []
    for x in (q, k):
        first, second = x.to(wide).chunk(2, dim=-1)
        rotated.append(
            torch.cat((first * c - second * s, second * c + first * s), dim=-1).to(x.dtype)
        )
    return rotated[0], rotated[1]


def mutants(
    q: Tensor, k: Tensor, cos: Tensor, sin: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    turned_q, turned_k = reference(q, k, cos, sin)

    def pairs(x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)

    def back(x: Tensor) -> Tensor:
        return x.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2)

    neighbours = reference(pairs(q), pairs(k), cos, sin)
    return {
        "turned backwards": reference(q, k, cos, -sin),
        "neighbouring pairs": (back(neighbours[0]), back(neighbours[1])),
        "k left as it is": (turned_q, k.clone()),
        "q left as it is": (q.clone(), turned_k),
        "cos and sin swapped": reference(q, k, sin, cos),
        "angles of the token before": reference(q, k, cos.roll(1, 0), sin.roll(1, 0)),
    }


def cost(case: Case) -> Cost:
    tokens, half = case.axes["tokens"], case.axes["half_dim"]
    elements = tokens * (case.axes["q_heads"] + case.axes["kv_heads"]) * 2 * half
    return Cost(bytes=2 * (elements + tokens * half) * case.dtype.itemsize, flops=3 * elements)
