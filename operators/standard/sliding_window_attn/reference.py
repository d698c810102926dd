"""Computes causal attention within a sliding window."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

# The number of queries that are computed at a time. For a long sequence, the whole score matrix
# would be too large.
CHUNK = 2048


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
        strong = rng.uniform(shape[:3], torch.float32, 0.0, 1.0) < 4.0 / case.axes["window"]
        q, k = rng.far_keys(q, k, 24.0 * strong)
    elif case.distribution == "bounded":
        v = rng.uniform(shape, torch.float32, -0.9, 0.9)
    elif case.distribution == "fine":
        # With a window of 2, each query attends only to the key before its own. So the output is v,
        # moved by one step, and a rounding of v shows.
        odd = torch.arange(shape[2], device=v.device) % 2
        q, k = torch.zeros_like(q), torch.zeros_like(k)
        k[..., 0], k[..., 1] = 32.0 * (1 - odd), 32.0 * odd
        q[..., 0], q[..., 1] = 32.0 * odd, 32.0 * (1 - odd)
        v = rng.fine(shape)
    return {
        "q": q.to(case.dtype),
        "k": k.to(case.dtype),
        "v": v.to(case.dtype),
        "window": case.axes["window"],
    }


def reference(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    return _attend(q, k, v, window, 0, q.shape[-1] ** -0.5)


def _attend(q: Tensor, k: Tensor, v: Tensor, before: int, after: int, scale: float) -> Tensor:
    """Computes attention in which query i attends to the keys i - before + 1 .. i + after. Computes
    one head and one chunk of queries at a time."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    batch, heads, seq, _ = q.shape
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    for start in range(0, seq, CHUNK):
        end = min(start + CHUNK, seq)
        low, high = max(0, start - before + 1), min(seq, end + after)
        distance = (
            torch.arange(start, end, device=q.device)[:, None]
            - torch.arange(low, high, device=q.device)[None, :]
        )
        hidden = (distance < -after) | (distance >= before)
        for i in range(batch):
            for j in range(heads):
                scores = (q[i, j, start:end].to(wide) @ k[i, j, low:high].to(wide).T) * scale
                p = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
                out[i, j, start:end] = p @ v[i, j, low:high].to(wide)
    return out


def mutants(q: Tensor, k: Tensor, v: Tensor, window: int) -> dict[str, Tensor | tuple[Tensor, ...]]:
    scale = q.shape[-1] ** -0.5
    return {
        "window one too long": _attend(q, k, v, window + 1, 0, scale),
        "window one too short": _attend(q, k, v, max(1, window - 1), 0, scale),
        "window rounded up to a block": _attend(q, k, v, window + -window % 64, 0, scale),
        "no window": _attend(q, k, v, q.shape[2], 0, scale),
        "window to both sides": _attend(q, k, v, window, window - 1, scale),
        "scale left out": _attend(q, k, v, window, 0, 1.0),
    }


def shortcuts(
    q: Tensor, k: Tensor, v: Tensor, window: int
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    half = _attend(q, k, v, (window + 1) // 2, 0, q.shape[-1] ** -0.5)
    return {"skip_negligible": half}


def cost(case: Case) -> Cost:
    heads, seq, dim = (
        case.axes["batch"] * case.axes["heads"],
        case.axes["seq"],
        case.axes["head_dim"],
    )
    window = min(case.axes["window"], seq)
    pairs = window * (window + 1) // 2 + (seq - window) * window
    return Cost(
        bytes=heads * seq * dim * (3 * case.dtype.itemsize + 4), flops=4 * heads * pairs * dim
    )
