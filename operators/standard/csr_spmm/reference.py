"""Multiplies a sparse matrix in CSR form by a dense matrix."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Each value is scaled by its row's length^(-1/2), so that the entries of c have a variance of
    about 1 for every row length."""
    m, nnz, k, n = (case.axes[name] for name in ("m", "nnz", "k", "n"))
    lengths = _lengths(rng, nnz, m, case.distribution == "skewed")
    offsets = torch.zeros((m + 1,), dtype=torch.int64, device=rng.device)
    offsets[1:] = lengths.cumsum(0)
    row = torch.searchsorted(
        offsets[1:].contiguous(), torch.arange(nnz, device=rng.device), right=True
    )
    values = rng.normal((nnz,), torch.float32) * lengths[row].to(torch.float32) ** -0.5
    columns = rng.integers((nnz,), 0, k, torch.int32)
    if case.distribution == "duplicates":
        # Three consecutive entries have the same column, so a row can have several entries in one
        # column.
        columns = columns[torch.arange(nnz, device=rng.device) // 3 * 3]
    return {
        "offsets": offsets.to(torch.int32),
        "columns": columns,
        "values": values,
        "b": rng.normal((k, n), torch.float32),
    }


def _lengths(rng: Rng, total: int, segments: int, skewed: bool) -> Tensor:
    """Returns lengths that add up to `total`. Every fifth segment is empty. If `skewed` is set, the
    middle segment has about two thirds of the total."""
    weights = rng.uniform((segments,), torch.float64, 0.5, 1.0)
    weights[3:-1:5] = 0.0
    if skewed:
        weights[segments // 2] = 2.0 * weights.sum()
    # Rounds the cumulative sums instead of the lengths, so that the lengths add up to `total`. The
    # last segment is empty only if there are more segments than elements.
    ends = (weights.cumsum(0) / weights.sum() * total).round().to(torch.int64).clamp(max=total)
    ends[-1] = total
    lengths = ends.clone()
    lengths[1:] -= ends[:-1]
    return lengths


def _product(first: Tensor, end: Tensor, columns: Tensor, values: Tensor, b: Tensor) -> Tensor:
    """Computes the product by differences of float64 prefix sums, a few columns of b at a time. The
    result is deterministic and needs a bounded amount of memory."""
    nnz, n = values.shape[0], b.shape[1]
    c = torch.empty((first.shape[0], n), dtype=b.dtype, device=b.device)
    step = max(1, (1 << 25) // nnz)
    for start in range(0, n, step):
        part = b[:, start : start + step].double()
        prefix = torch.zeros((nnz + 1, part.shape[1]), dtype=torch.float64, device=b.device)
        prefix[1:] = (values.double()[:, None] * part[columns.long()]).cumsum(0)
        c[:, start : start + step] = (prefix[end.long()] - prefix[first.long()]).to(b.dtype)
    return c


def reference(offsets: Tensor, columns: Tensor, values: Tensor, b: Tensor) -> Tensor:
    return _product(offsets[:-1], offsets[1:], columns, values, b)


def mutants(
    offsets: Tensor, columns: Tensor, values: Tensor, b: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    first, end = offsets[:-1], offsets[1:]
    return {
        "values left out": _product(first, end, columns, torch.ones_like(values), b),
        "last entry of a row left out": _product(
            first, torch.maximum(first, end - 1), columns, values, b
        ),
        "at most 16 entries of a row": _product(
            first, torch.minimum(end, first + 16), columns, values, b
        ),
        "columns shifted by one": _product(first, end, (columns + 1) % b.shape[0], values, b),
    }


def cost(case: Case) -> Cost:
    m, nnz, k, n = (case.axes[name] for name in ("m", "nnz", "k", "n"))
    return Cost(bytes=4 * (m + 1 + 2 * nnz + k * n + m * n), flops=2 * nnz * n)
