"""Computes causal attention with soft-capped scores."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Scores exceed the cap, so that the cap affects the result. Capped scores still differ enough
    that the outputs do not average to nearly 0."""
    shape = (case.axes["batch"], case.axes["heads"], case.axes["seq"], case.axes["head_dim"])
    stretch, cap = {
        "normal": (7.0, 20.0),
        "tight": (6.0, 8.0),
        "loose": (4.0, 50.0),
        "extreme": (60.0, 30.0),
        "far_keys": (7.0, 20.0),
        "fine": (7.0, 20.0),
    }[case.distribution]
    q = stretch * rng.normal(shape, torch.float32)
    k = rng.normal(shape, torch.float32)
    v = rng.uniform(shape, torch.float32, -1.7, 1.7)
    if case.distribution == "far_keys":
        # The scores of a few keys at random positions are near the cap.
        strong = rng.uniform(shape[:3], torch.float32, 0.0, 1.0) < 4.0 / shape[2]
        q, k = rng.far_keys(q, k, 48.0 * strong, shift=0.0)
        v *= 0.5  # the rounding of bfloat16 stays well below the tolerance
    elif case.distribution == "fine":
        # In the first head, the first query attends to its own key only, so a rounding of v to
        # bfloat16 shows. In the other heads, accumulators of the scores need more bits than float16
        # has.
        v[:, 0] = rng.fine(v[:, 0].shape)
        for i in range(shape[0]):
            for j in range(1, shape[1]):
                a, b = rng.swells(shape[2], shape[3], shape[2])
                q[i, j], k[i, j] = 4.0 * a, b.T
    return {"q": q.to(case.dtype), "k": k.to(case.dtype), "v": v.to(case.dtype), "cap": cap}


def reference(q: Tensor, k: Tensor, v: Tensor, cap: float) -> Tensor:
    return _attend(q, k, v, cap, "right")


def _attend(q: Tensor, k: Tensor, v: Tensor, cap: float, variant: str) -> Tensor:
    """Computes one head at a time, so that a long sequence needs memory for only a few score
    matrices."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    batch, heads, seq, head_dim = q.shape
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    future = torch.ones((seq, seq), dtype=torch.bool, device=q.device).triu(1)
    for i in range(batch):
        for j in range(heads):
            scores = (q[i, j].to(wide) @ k[i, j].to(wide).T) * head_dim**-0.5
            if variant == "mask before the cap":
                scores = cap * torch.tanh(scores.masked_fill(future, float("-inf")) / cap)
            elif variant == "cap left out":
                scores = scores.masked_fill(future, float("-inf"))
            elif variant == "clamped":
                scores = scores.clamp(-cap, cap).masked_fill(future, float("-inf"))
            elif variant == "not multiplied by cap":
                scores = torch.tanh(scores / cap).masked_fill(future, float("-inf"))
            elif variant == "scaled after the cap":
                scores = (
                    cap * torch.tanh(scores * head_dim**0.5 / cap) * head_dim**-0.5
                ).masked_fill(future, float("-inf"))
            else:
                scores = (cap * torch.tanh(scores / cap)).masked_fill(future, float("-inf"))
            out[i, j] = torch.softmax(scores, dim=-1) @ v[i, j].to(wide)
    return out


def mutants(q: Tensor, k: Tensor, v: Tensor, cap: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    variants = (
        "mask before the cap",
        "cap left out",
        "clamped",
        "not multiplied by cap",
        "scaled after the cap",
    )
    return {variant: _attend(q, k, v, cap, variant) for variant in variants}


def cost(case: Case) -> Cost:
    heads, seq, dim = (
        case.axes["batch"] * case.axes["heads"],
        case.axes["seq"],
        case.axes["head_dim"],
    )
    pairs = heads * (seq * (seq + 1) // 2)
    return Cost(bytes=heads * seq * dim * (3 * case.dtype.itemsize + 4), flops=4 * pairs * dim)
