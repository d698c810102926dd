"""Computes the weighted sum of each token's k expert outputs."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    tokens, k, slots, dim = (case.axes[name] for name in ("tokens", "k", "slots", "dim"))
    places = rng.permutation(slots)[: tokens * k].reshape(tokens, k).to(torch.int32)
    weights = torch.softmax(rng.normal((tokens, k), torch.float32), dim=-1)
    expert_out = rng.normal((slots, dim), torch.float32)
    if case.distribution == "cancellation":
        # The output of a token's second expert cancels most of the output of its first expert.
        expert_out[places[:, 1].long()] = (
            0.1 * expert_out[places[:, 1].long()] - 2.0 * expert_out[places[:, 0].long()]
        )
        weights[:, 1] = 0.5 * weights[:, 0]
    elif case.distribution == "fine":
        # Each element of y is one element of expert_out (for even tokens), or one weight times 1 or
        # -1 (for odd tokens). A rounding to bfloat16 shows.
        weights, expert_out = torch.zeros_like(weights), rng.fine((slots, dim))
        weights[:, 0] = 1.0
        weights[1::2, 0] = rng.fine((tokens // 2,))
        odd = places[1::2, 0].long()
        expert_out[odd] = expert_out[odd].sign()
    elif case.distribution == "dropped":
        dropped = rng.uniform((tokens, k), torch.float32, 0.0, 1.0) < 0.4
        dropped[0] = True
        dropped[-1] = False
        places = places.masked_fill(dropped, -1)
    return {"expert_out": expert_out.to(case.dtype), "places": places, "weights": weights}


def _combine(expert_out: Tensor, places: Tensor, weights: Tensor) -> Tensor:
    """Adds one of the k outputs at a time, so that only one gathered row per token is in memory."""
    wide = torch.float64 if expert_out.dtype == torch.float64 else torch.float32
    y = torch.zeros((places.shape[0], expert_out.shape[1]), dtype=wide, device=expert_out.device)
    kept = torch.where(places >= 0, weights, torch.zeros_like(weights)).to(wide)
    for j in range(places.shape[1]):
        y += kept[:, j : j + 1] * expert_out[places[:, j].clamp(min=0).long()].to(wide)
    return y.to(expert_out.dtype)


def reference(expert_out: Tensor, places: Tensor, weights: Tensor) -> Tensor:
    return _combine(expert_out, places, weights)


def mutants(
    expert_out: Tensor, places: Tensor, weights: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    kept = torch.where(places >= 0, weights, torch.zeros_like(weights))
    last = torch.full_like(places, expert_out.shape[0] - 1)
    return {
        "weights left out": _combine(
            expert_out, places, torch.full_like(weights, 1.0 / places.shape[1])
        ),
        "weights of the first token for all": _combine(
            expert_out, places, weights[:1].expand_as(weights)
        ),
        "dropped slots read the first row": _combine(expert_out, places.clamp(min=0), weights),
        "dropped slots read the last row": _combine(
            expert_out, torch.where(places < 0, last, places), weights
        ),
        "renormalised over the slots left": _combine(
            expert_out, places, kept / kept.sum(-1, keepdim=True).clamp(min=1e-6)
        ),
        "last of the k left out": _combine(
            expert_out, torch.cat([places[:, :-1], torch.full_like(places[:, :1], -1)], 1), weights
        ),
    }


def cost(case: Case) -> Cost:
    tokens, k, slots, dim = (case.axes[name] for name in ("tokens", "k", "slots", "dim"))
    return Cost(bytes=2 * (slots + tokens) * dim + 8 * tokens * k, flops=2 * tokens * k * dim)
