"""Computes causal attention with squared scores and power-law decay. The Euclidean norm of the
weights is the normaliser."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """q and k are each scaled by head_dim^(-1/4), so that the scores have a variance of about 1."""
    shape = (case.axes["batch"], case.axes["heads"], case.axes["seq"], case.axes["head_dim"])
    scale = shape[-1] ** -0.25
    q = scale * rng.normal(shape, torch.float32)
    k = scale * rng.normal(shape, torch.float32)
    # Clamps v, because rounding one large weight to float16 changes o by v / 2048.
    v = rng.normal(shape, torch.float32).clamp(-4.0, 4.0)
    alpha, eps = 0.75, 1e-4
    if case.distribution == "spikes":
        k *= 1.0 + 3.0 * (rng.uniform((*shape[:3], 1), torch.float32, 0.0, 1.0) < 0.03)
        alpha = 1.5
    elif case.distribution == "zero_queries":
        q[:, :, ::3] = 0.0
        alpha, eps = 1.0, 1e-3
    elif case.distribution == "far_keys":
        # A few keys at random positions outweigh the near ones.
        k *= 1.0 + 7.0 * (rng.uniform((*shape[:3], 1), torch.float32, 0.0, 1.0) < 4.0 / shape[2])
    elif case.distribution == "fine":
        # In the first head, each query attends mostly to its own key, so a rounding of v to
        # bfloat16 shows. In the other heads, accumulators of the scores need more bits than float16
        # has.
        k[:, 0], v[:, 0] = q[:, 0], rng.fine(v[:, 0].shape, high=7.0)
        for i in range(shape[0]):
            for j in range(1, shape[1]):
                a, b = rng.swells(shape[2], shape[3], shape[2])
                q[i, j], k[i, j] = a, b.T
                v[i, j] *= 0.5
    elif case.distribution == "slow_decay":
        alpha = 0.25
    arguments: dict[str, Tensor | int | float | bool] = {
        name: value.to(case.dtype) for name, value in (("q", q), ("k", k), ("v", v))
    }
    return arguments | {"alpha": alpha, "eps": eps}


def _attention(q: Tensor, k: Tensor, v: Tensor, alpha: float, eps: float, how: str = "") -> Tensor:
    """Computes one head at a time, so that a long sequence needs memory for only a few matrices."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    batch, heads, seq, _ = q.shape
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    at = torch.arange(seq, device=q.device)
    distance = (at[:, None] - at[None, :]).to(wide)
    decay = (1.0 + distance.clamp_min(0.0)) ** -alpha
    if how == "distance from 0":
        decay = distance.clamp_min(1.0) ** -alpha
    elif how == "exponential decay":
        decay = torch.exp(-alpha * distance.clamp_min(0.0))
    if how == "mask left out":
        decay = (1.0 + distance.abs()) ** -alpha
    elif how == "own key hidden":
        decay = decay.masked_fill(distance <= 0.0, 0.0)
    else:
        decay = decay.masked_fill(distance < 0.0, 0.0)
    for i in range(batch):
        for j in range(heads):
            scores = q[i, j].to(wide) @ k[i, j].to(wide).T
            weight = (scores.abs() if how == "scores not squared" else scores.square()) * decay
            norm = (
                weight.sum(dim=1, keepdim=True) + eps
                if how == "sum of weights"
                else (weight.square().sum(dim=1, keepdim=True) + eps).sqrt()
            )
            out[i, j] = weight @ v[i, j].to(wide) / norm
    return out


def reference(q: Tensor, k: Tensor, v: Tensor, alpha: float, eps: float) -> Tensor:
    return _attention(q, k, v, alpha, eps)


def mutants(q: Tensor, k: Tensor, v: Tensor, alpha: float, eps: float) -> dict[str, Tensor]:
    wrong = (
        "mask left out",
        "own key hidden",
        "distance from 0",
        "exponential decay",
        "scores not squared",
        "sum of weights",
    )
    return {name: _attention(q, k, v, alpha, eps, name) for name in wrong} | {
        "eps left out": _attention(q, k, v, alpha, 0.0),
        "scores divided by sqrt(head_dim)": _attention(q * q.shape[-1] ** -0.5, k, v, alpha, eps),
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
    return Cost(
        bytes=3 * elements * case.dtype.itemsize + 4 * elements, flops=pairs * (4 * dim + 6)
    )
