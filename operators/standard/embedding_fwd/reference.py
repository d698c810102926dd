"""Computes an embedding lookup with padding."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def padding_share(case: Case) -> float:
    return 0.5 if case.distribution == "padded" else 0.05


def power(case: Case) -> float:
    """Returns p, where an index is vocab * u ** p for a u that is uniform from 0 to 1."""
    return 4.0 if case.distribution == "zipf" else 1.0


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    vocab, dim, tokens = case.axes["vocab"], case.axes["dim"], case.axes["tokens"]
    uniform = rng.uniform((tokens,), torch.float32, 0.0, 1.0)
    indices = (vocab * uniform ** power(case)).to(torch.int32).clamp(0, vocab - 1)
    indices[rng.uniform((tokens,), torch.float32, 0.0, 1.0) < padding_share(case)] = -1
    indices[: min(2, tokens - 1)] = -1  # a small case also has padding
    indices[-1] = vocab - 1
    return {"table": rng.normal((vocab, dim), case.dtype), "indices": indices}


def reference(table: Tensor, indices: Tensor) -> Tensor:
    rows = table[indices.clamp(min=0).long()]
    return rows.masked_fill(indices[:, None] < 0, 0.0)


def mutants(table: Tensor, indices: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "padding reads the first row": table[indices.clamp(min=0).long()],
        "padding wraps to the last row": table[indices.long() % table.shape[0]],
        "indices counted from one": reference(table, (indices - 1).clamp(min=-1)),
    }


def named_rows(case: Case) -> float:
    """Returns how many rows of the table the indices of a case name, on average."""
    vocab, tokens = case.axes["vocab"], case.axes["tokens"]
    bounds = (torch.arange(vocab + 1, dtype=torch.float64) / vocab) ** (1 / power(case))
    unnamed = (1 - bounds.diff()) ** (tokens * (1 - padding_share(case)))
    return float((1 - unnamed).sum())


def cost(case: Case) -> Cost:
    """Counts each row that is named once, because no other row need be read."""
    vocab, dim, tokens = case.axes["vocab"], case.axes["dim"], case.axes["tokens"]
    row = dim * case.dtype.itemsize
    read = named_rows(case)
    return Cost(bytes=(read + tokens) * row + 4 * tokens, flops=0, untouched=(vocab - read) * row)
