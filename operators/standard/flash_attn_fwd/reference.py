"""Computes scaled dot-product attention without a mask."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """q is scaled up so that each query attends to few keys. Otherwise the outputs would be
    averages near 0."""
    batch, heads, dim = case.axes["batch"], case.axes["heads"], case.axes["head_dim"]
    q = 3.0 * rng.normal((batch, heads, case.axes["seq_q"], dim), torch.float32)
    k = rng.normal((batch, heads, case.axes["seq_k"], dim), torch.float32)
    v = rng.normal(k.shape, torch.float32)
    if case.distribution == "spikes":
        k *= 1.0 + 2.0 * (rng.uniform((*k.shape[:3], 1), torch.float32, 0.0, 1.0) < 0.03)
    elif case.distribution == "fine":
        # Each query attends to nearly one key, so a rounding of v to bfloat16 shows.
        q, v = 4.0 * q, rng.fine(v.shape)
    elif case.distribution == "bounded":
        v = rng.uniform(v.shape, torch.float32, -0.9, 0.9)
    elif case.distribution == "far_keys":
        # A few keys at random positions outweigh all others.
        strong = rng.uniform(k.shape[:3], torch.float32, 0.0, 1.0) < 4.0 / k.shape[2]
        q, k = rng.far_keys(q, k, 24.0 * strong)
    elif case.distribution == "extreme":
        # All keys have a common component, which moves all scores of a query up or down by up to a
        # few hundred.
        shared = rng.normal((batch, heads, 1, dim), torch.float32)
        k += 3.0 * shared
        q += rng.uniform((*q.shape[:3], 1), torch.float32, -10.0, 10.0) * shared
    return {"q": q.to(case.dtype), "k": k.to(case.dtype), "v": v.to(case.dtype)}


def reference(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _attend(q, k, v, q.shape[-1] ** -0.5, 1)


def _attend(q: Tensor, k: Tensor, v: Tensor, scale: float, block: int) -> Tensor:
    """Computes one head at a time, so that a long sequence needs memory for only one score matrix.
    Adds keys of zeros until their number is a multiple of `block` (a mutant's mistake)."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    batch, heads, seq_k, _ = k.shape
    padding = -seq_k % block
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    for i in range(batch):
        for j in range(heads):
            scores = (q[i, j].to(wide) @ k[i, j].to(wide).T) * scale
            p = torch.softmax(torch.nn.functional.pad(scores, (0, padding)), dim=-1)
            out[i, j] = p[:, :seq_k] @ v[i, j].to(wide)
    return out


def mutants(q: Tensor, k: Tensor, v: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    scale = q.shape[-1] ** -0.5
    return {
        "scale left out": _attend(q, k, v, 1.0, 1),
        "scale 1 / head_dim": _attend(q, k, v, scale * scale, 1),
        "keys past the end count as zeros": _attend(q, k, v, scale, 64),
        "last key left out": _attend(
            q, k[:, :, : max(1, k.shape[2] - 1)], v[:, :, : max(1, k.shape[2] - 1)], scale, 1
        ),
    }


def cost(case: Case) -> Cost:
    heads, dim = case.axes["batch"] * case.axes["heads"], case.axes["head_dim"]
    seq_q, seq_k = case.axes["seq_q"], case.axes["seq_k"]
    elements = heads * dim
    return Cost(
        bytes=elements * ((seq_q + 2 * seq_k) * case.dtype.itemsize + 4 * seq_q),
        flops=4 * elements * seq_q * seq_k,
    )
