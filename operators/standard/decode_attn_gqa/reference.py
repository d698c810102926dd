"""Computes decoding attention with one query per sequence and grouped heads."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """q is scaled up so that each query attends to few keys. Otherwise the outputs would average to
    nearly 0. The first query of each group also attends to the last key of its sequence, so that a
    length that is wrong by one is visible."""
    batch, capacity, kv_heads, dim = (
        case.axes[name] for name in ("batch", "capacity", "kv_heads", "head_dim")
    )
    q = 3.0 * rng.normal((batch, kv_heads * case.axes["group"], dim), torch.float32)
    k = rng.normal((batch, capacity, kv_heads, dim), torch.float16)
    v = rng.normal((batch, capacity, kv_heads, dim), torch.float16)
    lengths = rng.integers((batch,), max(1, capacity // 3), capacity + 1, torch.int32)
    if case.distribution in ("full", "far_keys"):
        lengths = torch.full_like(lengths, capacity)
    if case.distribution == "far_keys":
        # A few keys at random positions outweigh all others.
        strong = rng.uniform(k.shape[:3], torch.float32, 0.0, 1.0) < 4.0 / capacity
        q, k = rng.far_keys(q, k, 24.0 * strong)
    elif case.distribution == "fine":
        # Each query attends to nearly one key, so a rounding of v to bfloat16 shows.
        q, v = 4.0 * q, rng.fine(v.shape).to(torch.float16)
    elif case.distribution == "spikes":
        k *= 1.0 + 2.0 * (
            rng.uniform((batch, capacity, kv_heads, 1), torch.float32, 0.0, 1.0) < 0.03
        ).to(torch.float16)
        lengths[0] = 1
    if case.distribution != "far_keys":
        k[torch.arange(batch, device=rng.device), lengths.long() - 1] = (
            q[:, :: case.axes["group"]] / 12.0
        ).to(torch.float16)
    return {
        "q": q.to(torch.float16),
        "k_cache": k.to(torch.float16),
        "v_cache": v,
        "lengths": lengths,
    }


def reference(q: Tensor, k_cache: Tensor, v_cache: Tensor, lengths: Tensor) -> Tensor:
    group = q.shape[1] // k_cache.shape[2]
    return _attend(
        q,
        k_cache,
        v_cache,
        lengths.tolist(),
        [h // group for h in range(q.shape[1])],
        q.shape[-1] ** -0.5,
    )


def _attend(
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    lengths: list[int],
    key_head: list[int],
    scale: float,
) -> Tensor:
    """Computes one sequence and one key head at a time. Query head h uses key head key_head[h]."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    for b, length in enumerate(lengths):
        for g in range(k_cache.shape[2]):
            heads = [h for h, of in enumerate(key_head) if of == g]
            if heads:
                scores = (q[b, heads].to(wide) @ k_cache[b, :length, g].to(wide).T) * scale
                out[b, heads] = torch.softmax(scores, dim=-1) @ v_cache[b, :length, g].to(wide)
    return out


def mutants(
    q: Tensor, k_cache: Tensor, v_cache: Tensor, lengths: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    right, capacity, kv_heads = lengths.tolist(), k_cache.shape[1], k_cache.shape[2]
    heads, scale = q.shape[1], q.shape[-1] ** -0.5
    own = [h * kv_heads // heads for h in range(heads)]
    return {
        "lengths ignored": _attend(q, k_cache, v_cache, [capacity] * len(right), own, scale),
        "last key left out": _attend(
            q, k_cache, v_cache, [max(1, n - 1) for n in right], own, scale
        ),
        "one key too many": _attend(
            q, k_cache, v_cache, [min(capacity, n + 1) for n in right], own, scale
        ),
        "key heads taken in turn": _attend(
            q, k_cache, v_cache, right, [h % kv_heads for h in range(heads)], scale
        ),
        "scale left out": _attend(q, k_cache, v_cache, right, own, 1.0),
    }


def cost(case: Case) -> Cost:
    """Returns the cost for sequences of full length, because the lengths are not known here."""
    batch, capacity, kv_heads, dim = (
        case.axes[name] for name in ("batch", "capacity", "kv_heads", "head_dim")
    )
    heads = kv_heads * case.axes["group"]
    traffic = batch * dim * (2 * 2 * capacity * kv_heads + (2 + 4) * heads) + 4 * batch
    return Cost(bytes=traffic, flops=4 * batch * heads * capacity * dim)
