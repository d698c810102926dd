"""Computes causal grouped-query attention. The sequence dimension comes before the heads."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """q is scaled up so that each query attends to few keys. Otherwise the outputs of late rows
    would be averages near 0."""
    batch, seq, kv_heads, dim = (
        case.axes["batch"],
        case.axes["seq"],
        case.axes["kv_heads"],
        case.axes["head_dim"],
    )
    q = 3.0 * rng.normal((batch, seq, kv_heads * case.axes["group"], dim), torch.float32)
    k = rng.normal((batch, seq, kv_heads, dim), torch.float32)
    v = rng.uniform(k.shape, torch.float32, -1.7, 1.7)
    if case.distribution == "spikes":
        k *= 1.0 + 2.0 * (rng.uniform((*k.shape[:3], 1), torch.float32, 0.0, 1.0) < 0.03)
    elif case.distribution == "fine":
        # The first query attends to its own key only, so a rounding of v to bfloat16 shows.
        v = rng.fine(k.shape)
    elif case.distribution == "bounded":
        v = 0.5 * v + 0.3
    elif case.distribution == "far_keys":
        # A few keys at random positions outweigh all others.
        strong = rng.uniform(k.shape[:3], torch.float32, 0.0, 1.0) < 4.0 / seq
        q, k = rng.far_keys(q, k, 24.0 * strong)
        v *= 0.5  # the rounding of bfloat16 stays well below the tolerance
    return {"q": q.to(case.dtype), "k": k.to(case.dtype), "v": v.to(case.dtype)}


def reference(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    group = q.shape[2] // k.shape[2]
    return _attend(q, k, v, [h // group for h in range(q.shape[2])], 0, q.shape[-1] ** -0.5)


def _attend(
    q: Tensor, k: Tensor, v: Tensor, key_head: list[int], ahead: int, scale: float
) -> Tensor:
    """Computes one head at a time. Query head h uses key head key_head[h]. Each query also attends
    to `ahead` keys after its own."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    batch, seq, heads, _ = q.shape
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    hidden = torch.ones((seq, seq), dtype=torch.bool, device=q.device).triu(1 + ahead)
    for i in range(batch):
        for h in range(heads):
            g = key_head[h]
            scores = (q[i, :, h].to(wide) @ k[i, :, g].to(wide).T) * scale
            out[i, :, h] = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) @ v[
                i, :, g
            ].to(wide)
    return out


def mutants(q: Tensor, k: Tensor, v: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    heads, kv_heads, scale = q.shape[2], k.shape[2], q.shape[-1] ** -0.5
    right = [h * kv_heads // heads for h in range(heads)]
    return {
        "key heads taken in turn": _attend(q, k, v, [h % kv_heads for h in range(heads)], 0, scale),
        "first key head for all": _attend(q, k, v, [0] * heads, 0, scale),
        "causal mask left out": _attend(q, k, v, right, q.shape[1], scale),
        "one key too many": _attend(q, k, v, right, 1, scale),
        "scale left out": _attend(q, k, v, right, 0, 1.0),
    }


def cost(case: Case) -> Cost:
    batch, seq, dim = case.axes["batch"], case.axes["seq"], case.axes["head_dim"]
    kv_heads, heads = case.axes["kv_heads"], case.axes["kv_heads"] * case.axes["group"]
    traffic = batch * seq * dim * ((heads + 2 * kv_heads) * case.dtype.itemsize + 4 * heads)
    return Cost(bytes=traffic, flops=4 * batch * heads * dim * (seq * (seq + 1) // 2))
