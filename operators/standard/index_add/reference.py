"""Adds scaled rows to the rows that the indices select."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, dim, count = case.axes["rows"], case.axes["dim"], case.axes["count"]
    uniform = rng.uniform((count,), torch.float32, 0.0, 1.0)
    x = rng.normal((count, dim), torch.float32)
    alpha = 0.75
    if case.distribution == "zipf":
        indices = (rows * uniform**4).to(torch.int32)
        x *= 0.25
        alpha = -1.5
    elif case.distribution in ("hot", "collisions"):
        # Half of the rows of x are added to the same row. x is scaled so that the sum of these rows
        # stays O(1).
        indices = torch.where(
            uniform < 0.5, rows // 3, (rows * (2.0 * uniform - 1.0)).to(torch.int32)
        ).to(torch.int32)
        x *= count**-0.5 * 2.0
        alpha = 1.25 if case.distribution == "hot" else 0.75
    elif case.distribution == "distinct":
        indices = rng.permutation(rows)[:count].to(torch.int32)
        alpha = 2.5
    else:
        indices = (rows * uniform).to(torch.int32)
    indices = indices.clamp(0, rows - 1)
    if case.distribution != "distinct":
        indices[count // 2] = rows - 1  # the last row always occurs in the indices
    return {
        "out": rng.normal((rows, dim), torch.float32),
        "indices": indices,
        "x": x,
        "alpha": alpha,
    }


def _sums(indices: Tensor, x: Tensor, rows: int) -> Tensor:
    """Sums rows with the same index in a fixed order: it sorts them and then takes differences of
    float64 prefix sums."""
    order = torch.argsort(indices, stable=True)
    counts = torch.bincount(indices, minlength=rows)
    ends = counts.cumsum(0)
    sums = torch.zeros((rows, x.shape[1]), dtype=torch.float64, device=x.device)
    columns = max(1, (1 << 25) // x.shape[0])  # limits the prefix sums to 256 MiB
    for start in range(0, x.shape[1], columns):
        part = x[:, start : start + columns]
        prefix = torch.zeros(
            (part.shape[0] + 1, part.shape[1]), dtype=torch.float64, device=x.device
        )
        prefix[1:] = part[order].double().cumsum(0)
        sums[:, start : start + columns] = prefix[ends] - prefix[ends - counts]
    return sums


def reference(out: Tensor, indices: Tensor, x: Tensor, alpha: float) -> Tensor:
    return (out.double() + alpha * _sums(indices, x, out.shape[0])).to(out.dtype)


def mutants(
    out: Tensor, indices: Tensor, x: Tensor, alpha: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    order = torch.argsort(indices, stable=True)
    last = torch.bincount(indices, minlength=out.shape[0]).cumsum(0) - 1
    named = torch.bincount(indices, minlength=out.shape[0]) > 0
    alone = torch.where(named[:, None], x[order[last.clamp(min=0)]], torch.zeros_like(out))
    return {
        "alpha left out": reference(out, indices, x, 1.0),
        "duplicates lost": out + alpha * alone,
        "old values lost": reference(torch.zeros_like(out), indices, x, alpha),
        "named rows overwritten": torch.where(
            named[:, None], reference(torch.zeros_like(out), indices, x, alpha), out
        ),
    }


def cost(case: Case) -> Cost:
    rows, dim, count = case.axes["rows"], case.axes["dim"], case.axes["count"]
    return Cost(bytes=4 * (2 * rows * dim + count * dim + count), flops=2 * count * dim)
