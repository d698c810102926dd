"""Computes a scaled softmax with a causal mask."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    batch, heads, seq = case.axes["batch"], case.axes["heads"], case.axes["seq"]
    shape = (batch, heads, seq, seq)
    x = 8.0 * rng.normal(shape, torch.float32)
    scale = 0.125
    if case.distribution == "garbage":
        # Values above the diagonal must not affect the result. They are inf, NaN, or larger than
        # all values on and below the diagonal.
        place = torch.arange(seq, device=rng.device)
        distance = place[None, :] - place[:, None]
        above = torch.where(
            distance % 3 == 0, float("nan"), torch.where(distance % 3 == 1, 1000.0, float("inf"))
        )
        x = torch.where(distance > 0, above, x)
        scale = 0.15
    elif case.distribution == "extreme":
        # exp of these values overflows or underflows in float32.
        offset = torch.where(
            rng.uniform((batch, heads, seq, 1), torch.float32, 0.0, 1.0) < 0.5, -100.0, 100.0
        )
        x = 2.0 * x + offset / scale
    elif case.distribution == "spikes":
        x += 24.0 * (rng.uniform(shape, torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "sink":
        x[..., 0] += 24.0
        scale = 0.1
    return {"x": x.to(case.dtype), "scale": scale}


def reference(x: Tensor, scale: float) -> Tensor:
    return _masked_softmax(_wide(x) * scale, 0)


def _wide(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.float()


def _masked_softmax(scores: Tensor, ahead: int) -> Tensor:
    """Computes the softmax. `ahead` is the number of columns after the diagonal that are not
    masked."""
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1 + ahead)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)


def mutants(x: Tensor, scale: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    scores = _wide(x) * scale
    y = reference(x, scale)
    hidden = torch.ones(x.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
    everything = torch.softmax(scores, dim=-1)
    return {
        "mask left out": everything,
        "mask after the softmax": everything.masked_fill(hidden, 0.0),
        "diagonal masked": _masked_softmax(scores, -1).nan_to_num(0.0),
        "one column too many": _masked_softmax(scores, 1),
        "scale left out": reference(x, 1.0),
        "divided by the scale": reference(x, 1.0 / scale),
        "mask by adding -10000": torch.softmax(scores - 10000.0 * hidden, dim=-1),
        "y rounded to the input's dtype": y.to(x.dtype).to(y.dtype),
        "transposed mask": _masked_softmax(scores.flip(-1, -2), 0).flip(-1, -2),
        "maximum not subtracted": (
            scores.exp() / scores.masked_fill(hidden, float("-inf")).exp().sum(dim=-1, keepdim=True)
        ).masked_fill(hidden, 0.0),
    }


def cost(case: Case) -> Cost:
    """Only the part of x on and below the diagonal must be read."""
    seq = case.axes["seq"]
    rows = case.axes["batch"] * case.axes["heads"] * seq
    above = rows * (seq - 1) // 2 * case.dtype.itemsize
    return Cost(
        bytes=rows * seq * (case.dtype.itemsize + 4) - above,
        flops=5 * rows * (seq + 1) // 2,
        untouched=above,
    )
