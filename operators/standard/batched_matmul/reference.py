"""Computes a batch of float16 matrix products, accumulated in float32."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """a and b are each scaled by k^(-1/4), so that the entries of c have a variance of about 1 for
    every k."""
    batch, m, n, k = case.axes["batch"], case.axes["m"], case.axes["n"], case.axes["k"]
    a = rng.normal((batch, m, k), torch.float32)
    b = rng.normal((batch, k, n), torch.float32)
    if case.distribution == "cancellation":
        # The products of the second half of k cancel most of the products of the first half.
        half = k // 2
        a[:, :, half : 2 * half] = -a[:, :, :half]
        b[:, half : 2 * half] = b[:, :half] + 0.5 * b[:, half : 2 * half]
    elif case.distribution == "swell":
        # Accumulators need more bits than float16 has.
        pairs = [rng.swells(m, k, n) for _ in range(batch)]
        a, b = (torch.stack(list(matrices)) for matrices in zip(*pairs, strict=True))
        return {"a": a.to(case.dtype), "b": b.to(case.dtype)}
    elif case.distribution == "picks":
        # Each element of the product is one element of a or b. A rounding to bfloat16 shows.
        pairs = [rng.picks(m, k, n) for _ in range(batch)]
        a, b = (torch.stack(list(matrices)) for matrices in zip(*pairs, strict=True))
        return {"a": a.to(case.dtype), "b": b.to(case.dtype)}
    elif case.distribution == "tail":
        a[:, :, : k - k // 8] *= 0.1
        a[:, :, k - k // 8 :] *= 2.0
    return {"a": (k**-0.25 * a).to(case.dtype), "b": (k**-0.25 * b).to(case.dtype)}


def reference(a: Tensor, b: Tensor) -> Tensor:
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    return torch.bmm(a.to(wide), b.to(wide)).to(a.dtype)


def mutants(a: Tensor, b: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    whole = a.shape[2] // 32 * 32
    return {
        "b of the first batch for all": reference(a, b[:1].expand_as(b)),
        "tail of k left out": reference(a[:, :, :whole], b[:, :whole]),
        "b read as n x k": reference(
            a, b.reshape(b.shape[0], b.shape[2], b.shape[1]).transpose(1, 2)
        ),
    }


def cost(case: Case) -> Cost:
    batch, m, n, k = case.axes["batch"], case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(
        bytes=batch * (m * k + k * n + m * n) * case.dtype.itemsize, flops=2 * batch * m * n * k
    )
