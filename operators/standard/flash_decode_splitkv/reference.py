"""Computes decoding attention and its log-sum-exp."""

from __future__ import annotations

import math

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """q is scaled up so that each query attends to few keys. Otherwise the outputs would be
    averages near 0."""
    shape = (case.axes["batch"], case.axes["heads"], case.axes["seq"], case.axes["head_dim"])
    seq = shape[2]
    q = 3.0 * rng.normal((shape[0], shape[1], shape[3]), torch.float32)
    k = rng.normal(shape, torch.float32)
    v = rng.normal(shape, torch.float32)
    if case.distribution == "extreme":
        # All keys have a common component, so all scores of a head are near 200.
        k += 2.5 * q[:, :, None]
    elif case.distribution == "tail":
        # The last eighth of the keys has the largest scores. When a kernel reaches these keys, the
        # sums over earlier keys lose nearly all weight.
        k[:, :, : seq - seq // 8] *= 0.5
    elif case.distribution == "fine":
        # Each query attends to nearly one key, so a rounding of v to bfloat16 shows.
        q, v = 4.0 * q, rng.fine(shape)
    elif case.distribution == "far_keys":
        # A few keys at random positions outweigh all others.
        strong = rng.uniform(shape[:3], torch.float32, 0.0, 1.0) < 4.0 / seq
        q, k = rng.far_keys(q, k, 24.0 * strong)
    return {"q": q.to(case.dtype), "k": k.to(case.dtype), "v": v.to(case.dtype)}


def reference(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return _attend(q, k, v, q.shape[-1] ** -0.5)


def _attend(q: Tensor, k: Tensor, v: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """Computes one head at a time, because float32 copies of all keys and values would be large."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    lse = torch.empty(q.shape[:2], dtype=wide, device=q.device)
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            scores = (k[i, j].to(wide) @ q[i, j].to(wide)) * scale
            lse[i, j] = torch.logsumexp(scores, dim=0)
            out[i, j] = torch.softmax(scores, dim=0) @ v[i, j].to(wide)
    return out, lse


def mutants(q: Tensor, k: Tensor, v: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    scale, seq = q.shape[-1] ** -0.5, k.shape[2]
    out, lse = _attend(q, k, v, scale)
    halves = [
        _attend(q, k[:, :, part], v[:, :, part], scale)
        for part in (slice(0, (seq + 1) // 2), slice(seq // 2, seq))
    ]
    whole = seq // 64 * 64 or 1
    return {
        "parts averaged": ((halves[0][0] + halves[1][0]) / 2, lse),
        "lse in base 2": (out, lse / math.log(2.0)),
        "lse without the maximum": (
            out,
            lse - torch.einsum("bhd,bhnd->bhn", q.float(), k.float()).amax(-1) * scale,
        ),
        "rest of a block left out": _attend(q, k[:, :, :whole], v[:, :, :whole], scale),
        "scale left out": _attend(q, k, v, 1.0),
    }


def cost(case: Case) -> Cost:
    heads, seq, dim = (
        case.axes["batch"] * case.axes["heads"],
        case.axes["seq"],
        case.axes["head_dim"],
    )
    return Cost(bytes=heads * (2 * 2 * seq * dim + (2 + 4) * dim + 4), flops=4 * heads * seq * dim)
