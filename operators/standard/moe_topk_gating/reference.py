"""Computes top-k expert gating with renormalised softmax weights."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The logits are multiples of 1/1024, which are exact in float32 even with an integer offset.
    So two logits are either equal or differ by at least 1/1024."""
    tokens, experts, k = case.axes["tokens"], case.axes["experts"], case.axes["k"]
    logits = (rng.normal((tokens, experts), torch.float32) * 1536.0).round() / 1024.0
    if case.distribution == "ties":
        # Every second expert has the same logit as the expert before it. In half of the rows the
        # first pair is the maximum.
        logits[::2, 0] = 6.0 + 3.0 / 1024.0
        logits[:, 1::2] = logits[:, 0 : experts - experts % 2 : 2]
    elif case.distribution == "offset":
        logits += rng.integers((tokens, 1), -1000, 1001, torch.int32)
    elif case.distribution == "disabled":
        disabled = rng.uniform((tokens, experts), torch.float32, 0.0, 1.0) < 0.7
        disabled[:, experts - k :] = False
        logits = logits.masked_fill(disabled, float("-inf"))
    return {"logits": logits, "k": k}


def _top(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    values, order = torch.sort(logits, dim=-1, descending=True, stable=True)
    return values[:, :k], order[:, :k].to(torch.int32)


def reference(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    values, indices = _top(logits, k)
    return torch.softmax(values, dim=-1), indices


def mutants(logits: Tensor, k: int) -> dict[str, Tensor | tuple[Tensor, ...]]:
    weights, indices = reference(logits, k)
    values, mirrored = _top(logits.flip(-1), k)
    return {
        "not renormalised": (torch.softmax(logits, dim=-1).gather(-1, indices.long()), indices),
        "equal logits: the higher expert first": (
            torch.softmax(values, dim=-1),
            logits.shape[-1] - 1 - mirrored,
        ),
        "ascending order": (weights.flip(-1), indices.flip(-1)),
        "weights proportional to logits": (values / values.sum(dim=-1, keepdim=True), indices),
    }


def cost(case: Case) -> Cost:
    tokens, experts, k = case.axes["tokens"], case.axes["experts"], case.axes["k"]
    return Cost(bytes=tokens * (4 * experts + 8 * k), flops=tokens * (experts * k + 4 * k))
