"""Computes an embedding lookup with padding."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    vocab, dim, tokens = case.axes["vocab"], case.axes["dim"], case.axes["tokens"]
    uniform = rng.uniform((tokens,), torch.float32, 0.0, 1.0)
    share = 0.5 if case.distribution == "padded" else 0.05
    power = 4.0 if case.distribution == "zipf" else 1.0
    indices = (vocab * uniform**power).to(torch.int32).clamp(0, vocab - 1)
    indices[rng.uniform((tokens,), torch.float32, 0.0, 1.0) < share] = -1
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


def cost(case: Case) -> Cost:
    """Counts a row of the table at most once for each token, because no other row need be read."""
    vocab, dim, tokens = case.axes["vocab"], case.axes["dim"], case.axes["tokens"]
    row = dim * case.dtype.itemsize
    read = min(vocab, tokens)
    return Cost(bytes=(read + tokens) * row + 4 * tokens, flops=0, untouched=(vocab - read) * row)
