"""Applies repetition, frequency and presence penalties to logits."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The history of sequence 1 is empty if there are at least three sequences."""
    batch, vocab, total, bound = (
        case.axes[name] for name in ("batch", "vocab", "total", "max_history")
    )
    logits = 2.0 * rng.normal((batch, vocab), torch.float32)
    weights = rng.uniform((batch,), torch.float64, 0.5, 1.0)
    if batch > 2:
        weights[1] = 0.0
    if case.distribution == "repeats":
        weights[0] = 2.0 * batch  # one sequence has a long history
    offsets = torch.zeros((batch + 1,), dtype=torch.int64, device=rng.device)
    offsets[1:] = (weights.cumsum(0) / weights.sum() * total).round().to(torch.int64)
    offsets[-1] = total
    uniform = rng.uniform((total,), torch.float32, 0.0, 1.0)
    # A few tokens fill about a third of the positions, or 90 % of them in `collisions`.
    history = (vocab * uniform).to(torch.int32).clamp_(max=vocab - 1)
    few = rng.integers(
        (total,),
        0,
        5 if case.distribution in ("repeats", "collisions") else min(vocab, 40),
        torch.int32,
    )
    often = 0.9 if case.distribution == "collisions" else 0.35
    history = torch.where(rng.uniform((total,), torch.float32, 0.0, 1.0) < often, few, history)
    history[total - 1] = vocab - 1
    frequency = rng.uniform((batch,), torch.float32, 0.05, 0.3)
    if case.distribution == "repeats":
        frequency *= 20.0 / total
    elif case.distribution == "collisions":
        frequency *= 20.0 / bound
    elif case.distribution == "masked":
        logits = logits.masked_fill(
            rng.uniform((batch, vocab), torch.float32, 0.0, 1.0) < 0.3, float("-inf")
        )
    return {
        "logits": logits,
        "history": history,
        "offsets": offsets.to(torch.int32),
        "repetition": rng.uniform((batch,), torch.float32, 1.1, 1.5),
        "frequency": frequency,
        "presence": rng.uniform((batch,), torch.float32, 0.1, 0.5),
        "max_history": bound,
    }


def _counted(history: Tensor, offsets: Tensor, batch: int, vocab: int) -> Tensor:
    lengths = (offsets[1:] - offsets[:-1]).long()
    row = torch.repeat_interleave(torch.arange(batch, device=history.device), lengths)
    return (
        torch.bincount(row * vocab + history, minlength=batch * vocab)
        .reshape(batch, vocab)
        .to(torch.int32)
    )


def _penalised(
    logits: Tensor, count: Tensor, repetition: Tensor, frequency: Tensor, presence: Tensor
) -> Tensor:
    seen = count > 0
    x = torch.where(logits > 0, logits / repetition[:, None], logits * repetition[:, None])
    return torch.where(seen, x - frequency[:, None] * count - presence[:, None], logits)


def reference(
    logits: Tensor,
    history: Tensor,
    offsets: Tensor,
    repetition: Tensor,
    frequency: Tensor,
    presence: Tensor,
    max_history: int,
) -> Tensor:
    return _penalised(
        logits, _counted(history, offsets, *logits.shape), repetition, frequency, presence
    )


def mutants(
    logits: Tensor,
    history: Tensor,
    offsets: Tensor,
    repetition: Tensor,
    frequency: Tensor,
    presence: Tensor,
    max_history: int,
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    count = _counted(history, offsets, *logits.shape)
    seen = count > 0
    r, f, p = repetition[:, None], frequency[:, None], presence[:, None]
    reduced = logits - f * count - p
    everyone = count.sum(dim=0, keepdim=True).expand_as(count)
    return {
        "division whatever the sign": torch.where(seen, logits / r - f * count - p, logits),
        "repetition applied per occurrence": torch.where(
            seen,
            torch.where(logits > 0, logits / r**count, logits * r**count) - f * count - p,
            logits,
        ),
        "each token counted once": _penalised(
            logits, count.clamp_max(1), repetition, frequency, presence
        ),
        "presence per occurrence": _penalised(
            logits, count, repetition, frequency + presence, torch.zeros_like(presence)
        ),
        "repetition last": torch.where(
            seen, torch.where(reduced > 0, reduced / r, reduced * r), logits
        ),
        "history of all sequences": _penalised(logits, everyone, repetition, frequency, presence),
    }


def cost(case: Case) -> Cost:
    batch, vocab = case.axes["batch"], case.axes["vocab"]
    return Cost(
        bytes=8 * batch * vocab + 4 * case.axes["total"] + 4 * (batch + 1) + 12 * batch,
        flops=2 * batch * vocab,
    )
