"""Computes a matrix product with a very large inner size."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """a and b are each scaled by k^(-1/4), so that the entries of c have a variance of about 1 for
    every k."""
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    a = rng.normal((m, k), torch.float32)
    b = rng.normal((k, n), torch.float32)
    if case.distribution == "positive":
        # All terms have the same sign, so an accumulator with too little precision loses the small
        # terms. The entries of c are about 3.
        a = 1.75 * rng.uniform((m, k), torch.float32, 0.5, 1.5)
        b = 1.75 * rng.uniform((k, n), torch.float32, 0.5, 1.5)
        # The rows of c differ, so that exchanged rows are visible.
        a *= 1.0 + 0.25 * torch.arange(m, device=rng.device)[:, None] / m
    elif case.distribution == "cancellation":
        # The products of the second half of k cancel most of the products of the first half.
        half = k // 2
        a[:, half : 2 * half] = -a[:, :half]
        b[half : 2 * half] = b[:half] + 0.5 * b[half : 2 * half]
    elif case.distribution == "tail":
        a[:, : k - k // 8] *= 0.1
        a[:, k - k // 8 :] *= 2.0
    scale = k**-0.5 if case.distribution == "positive" else k**-0.25
    return {"a": (scale * a).to(case.dtype), "b": (scale * b).to(case.dtype)}


STEP = 16384  # the number of products that are summed at a time


def reference(a: Tensor, b: Tensor) -> Tensor:
    return _product(a, b)


def _product(a: Tensor, b: Tensor) -> Tensor:
    """Multiplies slices of k separately. This limits the memory for the copies in a wider dtype and
    keeps the float32 sums short."""
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    total = torch.zeros((a.shape[0], b.shape[1]), dtype=wide, device=a.device)
    for first in range(0, a.shape[1], STEP):
        total += a[:, first : first + STEP].to(wide) @ b[first : first + STEP].to(wide)
    return total


def mutants(a: Tensor, b: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    k = a.shape[1]
    whole, share = k // 64 * 64, k // 7
    return {
        "tail of k left out": _product(a[:, :whole], b[:whole]),
        "last share overwrites the others": _product(a[:, 6 * share :], b[6 * share :]),
        "result rounded to bfloat16": _product(a, b).to(torch.bfloat16).float(),
    }


def cost(case: Case) -> Cost:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(bytes=2 * (m * k + k * n) + 4 * m * n, flops=2 * m * n * k)
