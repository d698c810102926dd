"""Computes the gradient of an embedding table as a scatter-add of token gradients."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    tokens, vocab, dim = case.axes["tokens"], case.axes["vocab"], case.axes["dim"]
    uniform = rng.uniform((tokens,), torch.float32, 0.0, 1.0)
    dy = rng.normal((tokens, dim), torch.float32)
    if case.distribution == "zipf":
        indices = (vocab * uniform**4).to(torch.int32)
        dy *= 0.25
    elif case.distribution == "hot":
        # Half of the tokens are the same word. dy is scaled so that the sum over these tokens stays
        # O(1).
        indices = torch.where(
            uniform < 0.5, vocab // 3, (vocab * (2.0 * uniform - 1.0)).to(torch.int32)
        ).to(torch.int32)
        dy *= tokens**-0.5 * 2.0
    else:
        indices = (vocab * uniform).to(torch.int32)
    indices = indices.clamp(0, vocab - 1)
    indices[tokens // 2] = vocab - 1  # the last row always occurs in the indices
    return {"dy": dy, "indices": indices, "vocab": vocab}


def reference(dy: Tensor, indices: Tensor, vocab: int) -> Tensor:
    """Sums in a stable order: sorts the tokens by row, and subtracts running sums at the ends of
    each row. So two runs give exactly the same bits."""
    order = torch.argsort(indices, stable=True)
    counts = torch.bincount(indices, minlength=vocab)
    ends = counts.cumsum(0)
    # A row's sum is a difference of float64 prefix sums, which is exact enough for any float32
    # comparison.
    dw = torch.zeros((vocab, dy.shape[1]), dtype=dy.dtype, device=dy.device)
    columns = max(1, (1 << 27) // max(1, dy.shape[0]))  # limits the float64 copy to 1 GiB
    for start in range(0, dy.shape[1], columns):
        part = dy[:, start : start + columns]
        prefix = torch.zeros(
            (part.shape[0] + 1, part.shape[1]), dtype=torch.float64, device=dy.device
        )
        prefix[1:] = part[order].double().cumsum(0)
        dw[:, start : start + columns] = (prefix[ends] - prefix[ends - counts]).to(dy.dtype)
    return dw


def mutants(dy: Tensor, indices: Tensor, vocab: int) -> dict[str, Tensor | tuple[Tensor, ...]]:
    dw = reference(dy, indices, vocab)
    named, order = torch.sort(indices, stable=True)
    is_first = torch.ones_like(named, dtype=torch.bool)
    is_first[1:] = named[1:] != named[:-1]
    first = torch.zeros_like(dw)
    first[named[is_first].long()] = dy[order[is_first]]
    no_last = dw.clone()
    no_last[-1] = 0.0
    return {
        "the first of equal tokens counts alone": first,
        "mean over equal tokens": dw
        / torch.bincount(indices, minlength=vocab).clamp_min(1)[:, None],
        "last row left out": no_last,
        "last token left out": reference(dy[:-1], indices[:-1], vocab),
        "row above": dw.roll(1, 0),
    }


def cost(case: Case) -> Cost:
    tokens, vocab, dim = case.axes["tokens"], case.axes["vocab"], case.axes["dim"]
    return Cost(bytes=4 * (tokens * dim + tokens + vocab * dim), flops=tokens * dim)
