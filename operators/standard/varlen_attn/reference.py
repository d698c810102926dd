"""Computes causal attention over packed sequences."""

from __future__ import annotations

import itertools

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """q is scaled up so that each query attends to few keys. Otherwise the outputs of late rows
    would be averages near 0."""
    shape = (case.axes["total"], case.axes["heads"], case.axes["head_dim"])
    ends = _lengths(case, rng).cumsum(0)
    offsets = torch.zeros((case.axes["offset_count"],), dtype=torch.int32, device=rng.device)
    offsets[1:] = ends
    q = 3.0 * rng.normal(shape, torch.float32)
    k = rng.normal(shape, torch.float32)
    v = rng.normal(shape, torch.float32)
    if case.distribution == "spikes":
        k *= 1.0 + 2.0 * (rng.uniform((*shape[:2], 1), torch.float32, 0.0, 1.0) < 0.03)
    elif case.distribution == "far_keys":
        # A few keys at random positions outweigh all others.
        strong = rng.uniform(shape[:2], torch.float32, 0.0, 1.0) < 4.0 * ends.numel() / shape[0]
        q, k = rng.far_keys(q, k, 24.0 * strong)
    elif case.distribution == "fine":
        # The first query of a sequence attends to its own key only, so a rounding of v to bfloat16
        # shows.
        v = rng.fine(shape)
    return {
        "q": q.to(case.dtype),
        "k": k.to(case.dtype),
        "v": v.to(case.dtype),
        "cu_seqlens": offsets,
        "max_seqlen": case.axes["max_seqlen"],
    }


def _lengths(case: Case, rng: Rng) -> Tensor:
    """Returns lengths that add up to `total`. Every fifth sequence is empty. In the distribution
    `skewed`, one sequence has the maximum length."""
    total, sequences, bound = (
        case.axes["total"],
        case.axes["offset_count"] - 1,
        case.axes["max_seqlen"],
    )
    weights = rng.uniform((sequences,), torch.float64, 0.2, 1.0)
    weights[2::5] = 0.0
    longest = sequences - 1 - ((sequences - 1) % 5 == 2)
    fixed = 0
    if case.distribution == "skewed":
        fixed = bound
        weights[longest] = 0.0
    # No length may exceed `bound`. The excess is distributed evenly over the other sequences.
    lengths = (weights / weights.sum() * (total - fixed)).to(torch.int64).clamp_max(bound)
    while int(missing := total - fixed - lengths.sum()) > 0:
        room = (weights > 0) & (lengths < bound)
        lengths += room & (room.cumsum(0) <= missing)
    if fixed:
        lengths[longest] = fixed
    return lengths


def reference(q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Tensor, max_seqlen: int) -> Tensor:
    return _attend(q, k, v, cu_seqlens.tolist(), True, q.shape[-1] ** -0.5)


def _attend(
    q: Tensor, k: Tensor, v: Tensor, offsets: list[int], causal: bool, scale: float
) -> Tensor:
    """Computes one sequence and one head at a time, so that only one score matrix is in memory."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    out = torch.empty(q.shape, dtype=wide, device=q.device)
    for start, end in itertools.pairwise(offsets):
        future = (
            torch.ones((end - start, end - start), dtype=torch.bool, device=q.device).triu(1)
            & causal
        )
        for h in range(q.shape[1] if end > start else 0):
            scores = (q[start:end, h].to(wide) @ k[start:end, h].to(wide).T) * scale
            out[start:end, h] = torch.softmax(
                scores.masked_fill(future, float("-inf")), dim=-1
            ) @ v[start:end, h].to(wide)
    return out


def mutants(
    q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Tensor, max_seqlen: int
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    offsets = cu_seqlens.tolist()
    scale = q.shape[-1] ** -0.5
    pairs = [*offsets[:-1:2], offsets[-1]]
    late = [0, *(min(offset + 1, offsets[-1]) for offset in offsets[1:-1]), offsets[-1]]
    return {
        "every second boundary ignored": _attend(q, k, v, pairs, True, scale),
        "boundaries one late": _attend(q, k, v, late, True, scale),
        "causal mask left out": _attend(q, k, v, offsets, False, scale),
        "scale left out": _attend(q, k, v, offsets, True, 1.0),
    }


def shortcuts(
    q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Tensor, max_seqlen: int
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    """Cuts each sequence in two, so that a query of the second half does not see the first."""
    offsets = cu_seqlens.tolist()
    middles = [(start + end) // 2 for start, end in itertools.pairwise(offsets)]
    cut = _attend(q, k, v, sorted(offsets + middles), True, q.shape[-1] ** -0.5)
    return {"skip_negligible": cut}


def cost(case: Case) -> Cost:
    """Returns an approximate cost, because the lengths of the sequences are not known here. It
    assumes that a fifth of the sequences is empty and that the others have equal lengths."""
    total, heads, dim, count = (
        case.axes["total"],
        case.axes["heads"],
        case.axes["head_dim"],
        case.axes["offset_count"],
    )
    length = total / max(1.0, 0.8 * (count - 1))
    elements = total * heads * dim
    return Cost(
        bytes=elements * (3 * case.dtype.itemsize + 4) + 4 * count,
        flops=4 * elements * (length + 1) / 2,
    )
