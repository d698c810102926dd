"""Computes causal attention with linear position biases."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """q is scaled up so that each query attends to few keys. Otherwise the outputs would be nearly
    0 in heads with a small slope."""
    shape = (case.axes["batch"], case.axes["heads"], case.axes["seq"], case.axes["head_dim"])
    q = 3.0 * rng.normal(shape, torch.float32)
    k = rng.normal(shape, torch.float32)
    v = rng.normal(shape, torch.float32)
    if case.distribution == "spikes":
        k *= 1.0 + 2.0 * (rng.uniform((*shape[:3], 1), torch.float32, 0.0, 1.0) < 0.03)
    elif case.distribution == "far_keys":
        # Each head has a strong key in the first eighth of the sequence. Its score outweighs the
        # bias even for distant queries. Scores above a few hundred lose digits in float32.
        slopes = torch.tensor(_slopes(shape[1]), device=rng.device)
        reach = shape[2] * rng.uniform(shape[:2], torch.float32, 0.5, 1.0)
        place = rng.integers(shape[:2], 0, max(1, shape[2] // 8))
        boost = torch.zeros(shape[:3], device=rng.device)
        boost.scatter_(2, place[..., None], ((slopes * reach).clamp(max=400.0) + 24.0)[..., None])
        q, k = rng.far_keys(q, k, boost)
    elif case.distribution == "fine":
        # The first query attends to its own key only, so a rounding of v to bfloat16 shows.
        v = rng.fine(shape)
    elif case.distribution == "flat":
        # The scores are small, so that the biases alone determine the weights.
        q *= 0.1
    return {"q": q.to(case.dtype), "k": k.to(case.dtype), "v": v.to(case.dtype)}


def _slopes(heads: int) -> list[float]:
    return [2.0 ** (-8.0 * (h + 1) / heads) for h in range(heads)]


def reference(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _attend(q, k, v, _slopes(q.shape[1]), 0)


def _attend(q: Tensor, k: Tensor, v: Tensor, slopes: list[float], ahead: int) -> Tensor:
    """Computes one head at a time, so that a long sequence needs memory for only a few score
    matrices. Each query also attends to `ahead` keys after its own."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    batch, heads, seq, head_dim = q.shape
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    place = torch.arange(seq, device=q.device)
    distance = place[:, None] - place[None, :]
    hidden = distance < -ahead
    for i in range(batch):
        for j in range(heads):
            scores = (q[i, j].to(wide) @ k[i, j].to(wide).T) * head_dim**-0.5 - slopes[
                j
            ] * distance.to(wide)
            out[i, j] = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1) @ v[
                i, j
            ].to(wide)
    return out


def mutants(q: Tensor, k: Tensor, v: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    heads, head_dim = q.shape[1], q.shape[-1]
    slopes = _slopes(heads)
    power = 1 << (heads - 1).bit_length()
    return {
        "bias left out": _attend(q, k, v, [0.0] * heads, 0),
        "bias of the wrong sign": _attend(q, k, v, [-slope for slope in slopes], 0),
        "bias divided by sqrt(head_dim)": _attend(
            q, k, v, [slope * head_dim**-0.5 for slope in slopes], 0
        ),
        "heads counted from -1": _attend(
            q, k, v, [2.0 ** (-8.0 * h / heads) for h in range(heads)], 0
        ),
        "slopes of the next power of two": _attend(q, k, v, _slopes(power)[:heads], 0),
        "causal mask left out": _attend(q, k, v, slopes, q.shape[2]),
    }


def cost(case: Case) -> Cost:
    heads, seq, dim = (
        case.axes["batch"] * case.axes["heads"],
        case.axes["seq"],
        case.axes["head_dim"],
    )
    return Cost(
        bytes=heads * seq * dim * (3 * case.dtype.itemsize + 4),
        flops=4 * heads * dim * (seq * (seq + 1) // 2),
    )
