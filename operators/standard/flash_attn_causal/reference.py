"""Computes causal scaled dot-product attention."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """q is scaled up so that each query attends to few keys. Otherwise the outputs of late rows
    would be averages near 0."""
    shape = (case.axes["batch"], case.axes["heads"], case.axes["seq"], case.axes["head_dim"])
    q = 3.0 * rng.normal(shape, torch.float32)
    k = rng.normal(shape, torch.float32)
    v = rng.normal(shape, torch.float32)
    if case.distribution == "spikes":
        k *= 1.0 + 2.0 * (rng.uniform((*shape[:3], 1), torch.float32, 0.0, 1.0) < 0.03)
    elif case.distribution == "far_keys":
        # A few keys at random positions outweigh all others.
        strong = rng.uniform(shape[:3], torch.float32, 0.0, 1.0) < 4.0 / shape[2]
        q, k = rng.far_keys(q, k, 24.0 * strong)
    elif case.distribution == "fine":
        # The first query attends to its own key only, so a rounding of v to bfloat16 shows.
        v = rng.fine(shape)
    elif case.distribution == "bounded":
        v = rng.uniform(shape, torch.float32, -0.9, 0.9)
    return {"q": q.to(case.dtype), "k": k.to(case.dtype), "v": v.to(case.dtype)}


def reference(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _attend(q, k, v, 1)


def _attend(q: Tensor, k: Tensor, v: Tensor, hidden: int) -> Tensor:
    """Computes attention in which the query at position i does not see the keys at position i +
    hidden and later. Computes one head at a time, so that a long sequence needs memory for only one
    score matrix."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    batch, heads, seq, head_dim = q.shape
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    future = torch.ones((seq, seq), dtype=torch.bool, device=q.device).triu(hidden)
    for i in range(batch):
        for j in range(heads):
            scores = (q[i, j].to(wide) @ k[i, j].to(wide).T) * head_dim**-0.5
            out[i, j] = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1) @ v[
                i, j
            ].to(wide)
    return out


def mutants(q: Tensor, k: Tensor, v: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    root = q.shape[-1] ** 0.5
    return {
        "mask left out": _attend(q, k, v, q.shape[-2]),
        "one key of the future": _attend(q, k, v, 2),
        "own key masked": _attend(q, k, v, 0).nan_to_num(),
        "scores not scaled": _attend(q * root, k, v, 1),
        "scaled by the dimension, not its root": _attend(q / root, k, v, 1),
        "keys and values swapped": _attend(q, v, k, 1),
    }


def cost(case: Case) -> Cost:
    batch, heads, seq, dim = (
        case.axes["batch"],
        case.axes["heads"],
        case.axes["seq"],
        case.axes["head_dim"],
    )
    elements = batch * heads * seq * dim
    pairs = batch * heads * seq * (seq + 1) // 2
    return Cost(bytes=3 * elements * case.dtype.itemsize + 4 * elements, flops=4 * pairs * dim)
