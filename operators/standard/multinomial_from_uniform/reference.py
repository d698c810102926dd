"""Draws one index per row by inverting the cumulative weights."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

# The minimum weight of a drawn index, as a share of the row's sum. It is so large that the rounding
# errors of a float32 sum cannot lead to another index.
LEAST = 2e-5


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Draws the indices first. Then chooses u well inside the interval of each index. In the
    distribution `exact` all sums are exact, so there u is on a boundary of the interval."""
    rows, cols = case.axes["rows"], case.axes["cols"]
    if case.distribution == "exact":
        return _exact(rows, cols, rng)
    weights = torch.exp(1.5 * rng.normal((rows, cols), torch.float32))
    if case.distribution == "peaked":
        weights = torch.exp(4.0 * rng.normal((rows, cols), torch.float32).clamp_(-4.0, 4.0))
    elif case.distribution == "sparse":
        weights *= rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.02
        weights[:, -1] = 0.5
    # Scales each row by a random factor, so that a kernel that expects normalised weights fails.
    weights *= torch.exp(rng.uniform((rows, 1), torch.float32, -3.0, 3.0)) / cols
    sums = weights.double().cumsum(1)
    total = sums[:, -1:]
    drawn = torch.searchsorted(
        sums, total * rng.uniform((rows, 1), torch.float64, 0.0, 1.0), right=True
    ).clamp_(max=cols - 1)
    share = weights.double().gather(1, drawn) / total
    drawn = torch.where(share < LEAST, weights.argmax(dim=1, keepdim=True), drawn)
    weight = weights.double().gather(1, drawn)
    inside = rng.uniform((rows, 1), torch.float64, 0.3, 0.7)
    u = (sums.gather(1, drawn) - weight * inside) / total
    return {"weights": weights, "u": u[:, 0].to(torch.float32)}


def _exact(rows: int, cols: int, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Returns weights that are small integers, many of them 0. The sums of all rows are the same
    power of two. u equals partial sums, including 0."""
    weights = rng.integers((rows, cols), -2, 4, torch.int32).clamp_(min=0)
    power = 1 << (3 * cols + 1).bit_length()
    place = rng.integers((rows, 1), 0, cols, torch.int64)
    weights.scatter_(1, place, torch.zeros_like(place, dtype=torch.int32))
    weights.scatter_(1, place, (power - weights.sum(dim=1, keepdim=True)).to(torch.int32))
    sums = weights.cumsum(1)
    target = sums.gather(1, rng.integers((rows, 1), 0, cols, torch.int64))
    target[1::4] = 0
    target[-1] = sums[-1, cols // 2]  # the last row's index is not 0
    target = torch.where(target == power, 0, target)
    return {
        "weights": weights.to(torch.float32),
        "u": (target[:, 0].double() / power).to(torch.float32),
    }


def _drawn(weights: Tensor, target: Tensor, strict: bool = True) -> Tensor:
    sums = weights.double().cumsum(1)
    index = torch.searchsorted(sums, target[:, None], right=strict)[:, 0]
    return index.clamp_max(weights.shape[1] - 1).to(torch.int32)


def reference(weights: Tensor, u: Tensor) -> Tensor:
    return _drawn(weights, u.double() * weights.double().sum(dim=1))


def mutants(weights: Tensor, u: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    target = u.double() * weights.double().sum(dim=1)
    index = _drawn(weights, target)
    return {
        "comparison not strict": _drawn(weights, target, strict=False),
        "weights taken as normalised": _drawn(weights, u.double()),
        "one too far": (index + 1).clamp_max(weights.shape[1] - 1),
        "one too few": (index - 1).clamp_min(0),
        "greatest weight": weights.argmax(dim=1).to(torch.int32),
        "summed from the end": (weights.shape[1] - 1 - _drawn(weights.flip(1), target)).to(
            torch.int32
        ),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=4 * rows * cols + 8 * rows, flops=rows * cols)
