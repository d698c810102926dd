"""Computes the margin between the best and the second-best term of a max-plus product."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    a = rng.normal((m, k), torch.float32)
    b = rng.normal((k, n), torch.float32)
    if case.distribution == "twins":
        # In half of the rows every value of a occurs twice, so the best sum equals the second-best
        # sum. The two terms with this sum are far apart in l.
        half = k // 2
        a[::2, k - half :] = a[::2, :half]
        b[k - half :] = b[:half]
    elif case.distribution == "offsets":
        # Adds the same offset, -40 or 30, to all values of a row of a. So every sum is far from 0,
        # but the margins do not change.
        a += torch.where(rng.uniform((m, 1), torch.float32, 0.0, 1.0) < 0.5, -40.0, 30.0)
        b -= 40.0
    elif case.distribution == "tail":
        a[:, : k - k // 8] -= 2.0
    return {"a": a, "b": b}


def _two_best(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    shape = (a.shape[0], b.shape[1])
    best = torch.full(shape, float("-inf"), dtype=a.dtype, device=a.device)
    second = best.clone()
    for column, row in zip(a.T.contiguous(), b, strict=True):
        sums = column[:, None] + row
        second = torch.maximum(second, torch.minimum(best, sums))
        best = torch.maximum(best, sums)
    return best, second


def reference(a: Tensor, b: Tensor) -> Tensor:
    best, second = _two_best(a, b)
    return best - second


def mutants(a: Tensor, b: Tensor) -> dict[str, Tensor]:
    half = a.shape[1] // 2
    best = _two_best(a, b)[0]
    left, left_second = _two_best(a[:, :half], b[:half])
    right, right_second = _two_best(a[:, half:], b[half:])
    # A mutant: sums that equal the best sum do not count as second best.
    distinct = torch.full_like(best, float("-inf"))
    for column, row in zip(a.T.contiguous(), b, strict=True):
        sums = column[:, None] + row
        distinct = torch.maximum(distinct, sums.masked_fill(sums == best, float("-inf")))
    return {
        "ties not counted": best - distinct,
        "halves joined without the loser's best": torch.maximum(left, right)
        - torch.maximum(left_second, right_second),
        "second half's margin": right - right_second,
        "best sum": best,
        "second forgotten when the best changes": best - torch.minimum(left, right),
    }


def cost(case: Case) -> Cost:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(bytes=4 * (m * k + k * n + m * n), flops=4 * m * n * k)
