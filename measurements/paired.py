"""Computes means with 95 % intervals, and differences of means between two agents that did the same
tasks. All functions are pure."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

RESAMPLES = 4_000
SEED = 20_250_723  # fixed, so that the same results always give the same intervals
Z95 = 1.959964

Interval = tuple[float, float]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def wilson(successes: int, trials: int) -> Interval:
    """Returns Wilson's interval for the share of successes. Its width is not 0 even if all trials
    succeeded or all failed."""
    share = successes / trials
    denominator = 1 + Z95**2 / trials
    centre = (share + Z95**2 / (2 * trials)) / denominator
    half = Z95 / denominator * math.sqrt(share * (1 - share) / trials + Z95**2 / (4 * trials**2))
    return max(0.0, centre - half), min(1.0, centre + half)


def bootstrap(values: Sequence[float]) -> Interval:
    """Returns the percentile bootstrap interval of the mean."""
    draw = random.Random(SEED)
    means = sorted(mean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]


def difference(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, Interval]:
    """Returns the mean of the differences between paired values, and the interval of this mean."""
    pairs = [a - b for a, b in zip(ours, theirs, strict=True)]
    return mean(pairs), bootstrap(pairs)
