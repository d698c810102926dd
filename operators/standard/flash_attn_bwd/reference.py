"""Computes the gradients of causal attention."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """do is scaled so that all three gradients are O(1)."""
    shape = (case.axes["batch"], case.axes["heads"], case.axes["seq"], case.axes["head_dim"])
    q = 3.0 * rng.normal(shape, torch.float32)
    k = rng.normal(shape, torch.float32)
    v = rng.normal(shape, torch.float32)
    do = 0.27 * rng.normal(shape, torch.float32)
    if case.distribution == "spikes":
        k *= 1.0 + 2.0 * (rng.uniform((*shape[:3], 1), torch.float32, 0.0, 1.0) < 0.03)
    elif case.distribution == "far_keys":
        # A few keys at random positions outweigh all others. With fewer such keys, each would get
        # so many gradients that its sum is not O(1).
        strong = rng.uniform(shape[:3], torch.float32, 0.0, 1.0) < 16.0 / shape[2]
        q, k = rng.far_keys(q, k, 12.0 * strong, shift=0.0)
    elif case.distribution == "cancellation":
        # The rows of v are nearly equal. So dp (the gradient of the weights) is nearly constant
        # along a row, and subtracting the row's delta cancels most of dp.
        v = 0.3 * v + 2.0 * rng.normal((*shape[:2], 1, shape[3]), torch.float32)
    elif case.distribution == "fine":
        # The first query has the weight 1 for its own key, so a rounding of do to bfloat16 shows in
        # dv. v is small, so that the other gradients are O(1).
        v, do = 0.02 * v, rng.fine(shape)
    # Only the last queries attend to the last keys. Changes these queries so that each gives about
    # half of its weight to the key at its own position.
    for i in range(max(1, shape[2] - 4), shape[2]):
        scores = torch.einsum("bhd,bhjd->bhj", q[:, :, i], k[:, :, : i + 1]) * shape[3] ** -0.5
        missing = torch.logsumexp(scores[..., :i], dim=-1) - scores[..., i]
        own = k[:, :, i]
        q[:, :, i] += (missing * shape[3] ** 0.5 / own.square().sum(dim=-1))[..., None] * own
    q, k, v, do = (x.to(case.dtype) for x in (q, k, v, do))
    o, lse = torch.empty_like(q), torch.empty(shape[:3], dtype=torch.float32, device=rng.device)
    future = torch.ones((shape[2], shape[2]), dtype=torch.bool, device=rng.device).triu(1)
    for i in range(shape[0]):
        for j in range(shape[1]):
            scores = ((q[i, j].float() @ k[i, j].float().T) * shape[3] ** -0.5).masked_fill(
                future, float("-inf")
            )
            o[i, j] = (torch.softmax(scores, dim=-1) @ v[i, j].float()).to(case.dtype)
            lse[i, j] = torch.logsumexp(scores, dim=-1)
    return {"q": q, "k": k, "v": v, "o": o, "lse": lse, "do": do}


def reference(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, do: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    return _gradients(q, k, v, o, lse, do, "right")


def _gradients(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, do: Tensor, variant: str
) -> tuple[Tensor, Tensor, Tensor]:
    """Computes one head at a time, so that a long sequence needs memory for only a few score
    matrices."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    batch, heads, seq, head_dim = q.shape
    scale = head_dim**-0.5
    dq, dk, dv = (torch.empty(q.shape, dtype=wide, device=q.device) for _ in range(3))
    future = torch.ones((seq, seq), dtype=torch.bool, device=q.device).triu(1)
    for i in range(batch):
        for j in range(heads):
            qh, kh, vh, oh, doh = (x[i, j].to(wide) for x in (q, k, v, o, do))
            p = torch.exp((qh @ kh.T) * scale - lse[i, j].to(wide)[:, None])
            if variant != "causal mask left out":
                p = p.masked_fill(future, 0.0)
            delta = (doh * oh).sum(dim=-1, keepdim=True)
            if variant == "delta left out":
                delta = torch.zeros_like(delta)
            ds = p * (doh @ vh.T - delta)
            if variant == "p left out of ds":
                ds = (doh @ vh.T - delta).masked_fill(future, 0.0)
            if variant != "scale left out":
                ds = ds * scale
            dq[i, j], dk[i, j] = ds @ kh, ds.T @ qh
            dv[i, j] = (ds if variant == "dv from ds" else p).T @ doh
    return dq, dk, dv


def mutants(
    q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, do: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    variants = (
        "causal mask left out",
        "delta left out",
        "p left out of ds",
        "scale left out",
        "dv from ds",
    )
    return {variant: _gradients(q, k, v, o, lse, do, variant) for variant in variants}


def cost(case: Case) -> Cost:
    heads, seq, dim = (
        case.axes["batch"] * case.axes["heads"],
        case.axes["seq"],
        case.axes["head_dim"],
    )
    traffic = heads * seq * (dim * (5 * case.dtype.itemsize + 3 * 4) + 4)
    return Cost(bytes=traffic, flops=5 * 2 * heads * dim * (seq * (seq + 1) // 2))
