"""Chooses the tolerance of a check, in which no spec has one (docs/how-to/check-a-kernel.md).

    rules = fitted_rules(reference, rules, expected, float64)

An element may be off by T times its own magnitude, or by T times the output's root mean square if
that is larger. T depends on the output's dtype: it is the larger of the two tolerances of
torch.testing.assert_close. If the reference itself is farther off than that from the same reference
in float64, T grows to REFERENCE_FACTOR times the reference's own error, but at most to MOST_GROWTH
times T. Integers and bool must be equal. All functions are pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch

from harness.judging.compare import Rule, errors, parts

TOLERANCE: dict[torch.dtype, float] = {
    torch.float64: 1e-7,
    torch.float32: 1e-5,
    torch.float16: 1e-3,
    torch.bfloat16: 1.6e-2,
    torch.float8_e4m3fn: 1.3e-1,
    torch.float8_e5m2: 2.6e-1,
}
REFERENCE_FACTOR = 4.0
MOST_GROWTH = 10.0


def fitted_rules(
    tolerance: float | None,
    rules: Sequence[Rule],
    expected: Sequence[torch.Tensor],
    float64: Sequence[torch.Tensor] | None,
) -> list[Rule]:
    """Returns the rules with their tolerances. `tolerance` replaces the one of each dtype."""
    truths = float64 or [None] * len(rules)
    return [
        _fitted(tolerance, rule, right, truth)
        for rule, right, truth in zip(rules, expected, truths, strict=True)
    ]


def _fitted(
    tolerance: float | None, rule: Rule, right: torch.Tensor, truth: torch.Tensor | None
) -> Rule:
    if not right.is_floating_point():
        return replace(rule, max_abs_error=0.0)
    size = typical_size(right)
    if tolerance is not None:
        return replace(rule, max_abs_error=tolerance, scale=1 / size, relative=True)
    allowed = TOLERANCE[right.dtype]
    if truth is not None and truth.shape == right.shape and truth.is_floating_point():
        own = _largest_finite_error(truth, right, 1 / size)
        allowed = max(allowed, min(REFERENCE_FACTOR * own, MOST_GROWTH * allowed))
    return replace(rule, max_abs_error=allowed, scale=1 / size, relative=True)


def _largest_finite_error(truth: torch.Tensor, right: torch.Tensor, scale: float) -> float:
    largest = [
        torch.where(error.isfinite(), error, 0.0).max()
        for pair in zip(parts(truth), parts(right), strict=True)
        for error in [errors(*pair, scale)]
    ]
    return float(torch.stack(largest).max()) if largest else 0.0


def typical_size(values: torch.Tensor) -> float:
    """Returns the root mean square of the finite elements, or 1 if it is 0 or not finite."""
    sums = [
        torch.stack([torch.where(finite, wide, 0.0).square().sum(), finite.sum().double()])
        for wide in map(torch.Tensor.double, parts(values))
        for finite in [wide.isfinite()]
    ]
    squares, count = torch.stack(sums).sum(0).tolist() if sums else (0.0, 0.0)
    size = math.sqrt(squares / count) if count else 0.0
    return size if 0 < size < math.inf else 1.0
