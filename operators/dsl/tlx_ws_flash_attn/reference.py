"""Computes scaled dot-product attention without a mask."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """q is scaled up so that each query attends to few keys. Otherwise the outputs would be
    averages near 0."""
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
    elif case.distribution == "offset":
        # Every score of a query is about 96 or about -96. If the maximum is not subtracted, the
        # exponentials overflow or underflow.
        direction = rng.normal((1, 1, 1, shape[3]), torch.float32)
        direction = direction * (shape[3] ** 0.5 / direction.norm())
        k = k + 6.0 * direction
        sign = 1 - 2 * rng.integers((*shape[:3], 1), 0, 2, torch.int32)
        q = (
            q
            - (q @ direction.transpose(-1, -2) / shape[3] - 16.0 * shape[3] ** -0.5 * sign)
            * direction
        )
    return {"q": q.to(case.dtype), "k": k.to(case.dtype), "v": v.to(case.dtype)}


def _attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    causal: bool = False,
    keys: int | None = None,
    subtract: bool = True,
    padding: int = 0,
) -> Tensor:
    """Computes one head at a time, so that a long sequence needs memory for only one score
    matrix."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    seen = q.shape[2] if keys is None else keys
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            scores = (q[i, j].to(wide) @ k[i, j, :seen].to(wide).T) * scale
            if causal:
                scores = scores.masked_fill(
                    torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf")
                )
            greatest = (
                scores.amax(-1, keepdim=True) if subtract else torch.zeros_like(scores[:, :1])
            )
            weight = torch.exp(scores - greatest)
            total = weight.sum(-1, keepdim=True) + padding * torch.exp(-greatest)
            out[i, j] = weight @ v[i, j, :seen].to(wide) / total
    return out


def reference(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _attention(q, k, v, q.shape[-1] ** -0.5)


def mutants(q: Tensor, k: Tensor, v: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    scale = q.shape[-1] ** -0.5
    seq = q.shape[2]
    return {
        "causal": _attention(q, k, v, scale, causal=True),
        "not scaled": _attention(q, k, v, 1.0),
        "scaled by 1 / head_dim": _attention(q, k, v, 1.0 / q.shape[-1]),
        "keys behind the last whole block left out": _attention(
            q, k, v, scale, keys=seq - seq % 64 or seq
        ),
        "missing keys count as scores of 0": _attention(q, k, v, scale, padding=-seq % 128),
        "maximum not subtracted": _attention(q, k, v, scale, subtract=False),
        "keys and values swapped": _attention(q, v, k, scale),
    }


def cost(case: Case) -> Cost:
    batch, heads, seq, dim = (
        case.axes["batch"],
        case.axes["heads"],
        case.axes["seq"],
        case.axes["head_dim"],
    )
    elements = batch * heads * seq * dim
    return Cost(
        bytes=3 * elements * case.dtype.itemsize + 4 * elements,
        flops=4 * batch * heads * seq * seq * dim,
    )
