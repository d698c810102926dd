"""Computes the backward pass of the half-split rotary embedding."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

BASE = 10000.0


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    tokens, half, table = case.axes["tokens"], case.axes["half_dim"], case.axes["max_position"]
    dq = rng.normal((tokens, case.axes["q_heads"], 2 * half), torch.float32)
    dk = rng.normal((tokens, case.axes["kv_heads"], 2 * half), torch.float32)
    if case.distribution == "tail":
        dq[: tokens - tokens // 8] *= 0.1
        dk[: tokens - tokens // 8] *= 0.1
    if case.distribution == "normal":
        positions = (
            rng.integers((1,), 0, table, torch.int64) + torch.arange(tokens, device=rng.device)
        ) % table
    else:
        positions = rng.integers((tokens,), 0, table, torch.int64)
    frequencies = BASE ** (-torch.arange(half, device=rng.device).double() / half)
    angles = torch.arange(table, device=rng.device).double()[:, None] * frequencies[None, :]
    cos, sin = angles.cos().to(torch.float32), angles.sin().to(torch.float32)
    if case.distribution == "scaled":
        # Long-context variants scale the table, so that its rows do not have length 1.
        cos, sin = 1.3 * cos, 1.3 * sin
    return {
        "dq_out": dq,
        "dk_out": dk,
        "positions": positions.to(torch.int32),
        "cos": cos,
        "sin": sin,
    }


def _turned(dy: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotates by cos and sin, which contain one row for each token."""
    first, second = dy.chunk(2, dim=-1)
    c, s = cos[:, None, :], sin[:, None, :]
    return torch.cat((first * c + second * s, second * c - first * s), dim=-1)


def reference(
    dq_out: Tensor, dk_out: Tensor, positions: Tensor, cos: Tensor, sin: Tensor
) -> tuple[Tensor, Tensor]:
    c, s = cos[positions.long()], sin[positions.long()]
    return _turned(dq_out, c, s), _turned(dk_out, c, s)


def mutants(
    dq_out: Tensor, dk_out: Tensor, positions: Tensor, cos: Tensor, sin: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    c, s = cos[positions.long()], sin[positions.long()]
    in_order = torch.arange(positions.numel(), device=cos.device) % cos.shape[0]
    length = (c.square() + s.square()).rsqrt()

    def pairs(x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)

    def back(x: Tensor) -> Tensor:
        return x.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2)

    return {
        "turned forwards": (_turned(dq_out, c, -s), _turned(dk_out, c, -s)),
        "neighbouring pairs": (
            back(_turned(pairs(dq_out), c, s)),
            back(_turned(pairs(dk_out), c, s)),
        ),
        "positions taken in token order": (
            _turned(dq_out, cos[in_order], sin[in_order]),
            _turned(dk_out, cos[in_order], sin[in_order]),
        ),
        "angles computed, not looked up": (
            _turned(dq_out, c * length, s * length),
            _turned(dk_out, c * length, s * length),
        ),
    }


def cost(case: Case) -> Cost:
    tokens, half = case.axes["tokens"], case.axes["half_dim"]
    elements = tokens * (case.axes["q_heads"] + case.axes["kv_heads"]) * 2 * half
    return Cost(
        bytes=8 * elements + 4 * tokens + 8 * case.axes["max_position"] * half, flops=3 * elements
    )
