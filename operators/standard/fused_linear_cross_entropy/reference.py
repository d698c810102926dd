"""Computes the cross entropy of a linear layer's outputs."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

STEP = 512  # the number of tokens whose logits are in memory at the same time


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The logits have a standard deviation of about 2. In the distribution `offset`, all words of a
    token have a large common term. In `likely`, most targets are probable words."""
    tokens, vocab, k = case.axes["tokens"], case.axes["vocab"], case.axes["k"]
    x = 2.0 * k**-0.25 * rng.normal((tokens, k), torch.float32)
    w = k**-0.25 * rng.normal((vocab, k), torch.float32)
    targets = rng.integers((tokens,), 0, vocab, torch.int64)
    if case.distribution == "offset":
        # All words have the same weight for input 0, so input 0 adds the same term to all logits of
        # a token.
        x[:, 0] = rng.uniform((tokens,), torch.float32, -100.0, 100.0)
        x[-1, 0] = 100.0  # exp of this value overflows in float32
        w[:, 0] = 1.0
    elif case.distribution == "likely":
        x = 1.5 * k**-0.5 * w[targets] * k**0.25 + 0.5 * x
    targets[-1] = vocab - 1
    return {"x": x.to(case.dtype), "w": w.to(case.dtype), "targets": targets}


def reference(x: Tensor, w: Tensor, targets: Tensor) -> Tensor:
    return _loss(x, w, targets, 0.0) / targets.numel()


def _loss(x: Tensor, w: Tensor, targets: Tensor, padding: float) -> Tensor:
    """Returns the sum of the losses of all tokens. `padding` is the number of additional words with
    a logit of zero (a mutant's mistake)."""
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    total = torch.zeros((1,), dtype=torch.float64, device=x.device)
    weights = w.to(wide).T
    for first in range(0, x.shape[0], STEP):
        logits = x[first : first + STEP].to(wide) @ weights
        lse = torch.logsumexp(logits, dim=-1)
        if padding:
            lse = torch.logaddexp(lse, torch.full_like(lse, padding).log())
        picked = logits.gather(1, targets[first : first + STEP, None])[:, 0]
        total += (lse - picked).double().sum()
    return total.to(wide)


def mutants(x: Tensor, w: Tensor, targets: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    tokens, vocab = targets.numel(), w.shape[0]
    whole = x.shape[1] // 32 * 32
    logits = x.float() @ w.float().T
    picked = logits.gather(1, targets[:, None])[:, 0]
    partial = torch.logsumexp(logits[:, : vocab // 16 * 16], dim=-1)
    return {
        "padded words count as logit zero": _loss(x, w, targets, float(-vocab % 64)) / tokens,
        "tail of the vocabulary left out": (partial - picked).mean().reshape(1),
        "tail of k left out": reference(x[:, :whole], w[:, :whole], targets),
        "sum instead of mean": _loss(x, w, targets, 0.0),
        "mean over padded tokens": _loss(x, w, targets, 0.0) / ((tokens + 31) // 32 * 32),
        "maximum not subtracted": (logits.exp().sum(dim=-1).log() - picked).mean().reshape(1),
    }


def cost(case: Case) -> Cost:
    tokens, vocab, k = case.axes["tokens"], case.axes["vocab"], case.axes["k"]
    return Cost(
        bytes=(tokens * k + vocab * k) * case.dtype.itemsize + 8 * tokens + 4,
        flops=2 * tokens * vocab * k + 4 * tokens * vocab,
    )
