"""Computes the mean of signed table rows. Each trigram of tokens selects a row and a sign by its
hash."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

BASE = 1000003
WORD = 0xFFFFFFFF
TERMS_AT_ONCE = 1 << 25


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, seq, buckets, dim = (
        case.axes["rows"],
        case.axes["seq"],
        case.axes["buckets"],
        case.axes["dim"],
    )
    tokens = rng.integers((rows, seq), 0, 50000, torch.int32)
    lengths = rng.integers((rows,), seq // 2, seq + 1, torch.int32)
    size = max(1.0, 0.75 * seq) ** 0.5
    if case.distribution == "short":
        lengths = rng.integers((rows,), 0, min(seq, 6) + 1, torch.int32)
        size = 1.0
    elif case.distribution == "repeats":
        # There are only three different tokens, so the same trigrams occur often, with the same
        # buckets and signs.
        tokens = rng.integers((rows, seq), 0, 3, torch.int32)
        size = 1.0
    elif case.distribution == "huge_tokens":
        tokens = rng.integers((rows, seq), 2**31 - 2**20, 2**31, torch.int32)
    lengths[rows // 2] = lengths[-1] = seq
    # The mean of n terms with random signs is about n^(-1/2). Larger table values compensate for
    # that.
    table = (min(size, 12.0) * rng.normal((buckets, dim), torch.float32)).to(torch.float16)
    return {"tokens": tokens, "lengths": lengths, "table": table}


def _hashes(tokens: Tensor) -> Tensor:
    """Returns unsigned 32-bit hashes as int64. No step overflows in int64."""
    a, b, c = tokens[:, :-2].long(), tokens[:, 1:-1].long(), tokens[:, 2:].long()
    return (((a * BASE + b) & WORD) * BASE + c) & WORD


def _pool(table: Tensor, bucket: Tensor, weight: Tensor) -> Tensor:
    """Computes a few rows at a time, so that the gathered table rows need little memory."""
    wide = torch.float64 if table.dtype == torch.float64 else torch.float32
    rows, terms = bucket.shape
    out = torch.empty((rows, table.shape[1]), dtype=wide, device=table.device)
    step = max(1, TERMS_AT_ONCE // max(1, terms * table.shape[1]))
    for first in range(0, rows, step):
        part = slice(first, first + step)
        out[part] = (table[bucket[part]].to(wide) * weight[part, :, None].to(wide)).sum(dim=1)
    return out


def _bag(tokens: Tensor, lengths: Tensor, table: Tensor, how: str = "") -> Tensor:
    if tokens.shape[1] < 3:
        tokens = torch.nn.functional.pad(tokens, (0, 3 - tokens.shape[1]))
    value = _hashes(tokens.flip(1)).flip(1) if how == "reversed" else _hashes(tokens)
    count = (lengths.long() - 2).clamp_min(0)
    inside = torch.arange(value.shape[1], device=value.device) < count[:, None]
    bucket = (value >> 1) % table.shape[0]
    sign = 1.0 - 2.0 * (value & 1).double()
    divisor = count.clamp_min(1).double()
    if how == "signed":
        as_signed = torch.where(value >= 2**31, value - 2**32, value)
        bucket = (as_signed >> 1) % table.shape[0]
    elif how == "unshifted":
        bucket = value % table.shape[0]
    elif how == "top_sign":
        sign = 1.0 - 2.0 * (value >> 31).double()
    elif how == "length":
        divisor = lengths.clamp_min(1).double()
    elif how == "padding":
        inside = torch.ones_like(inside)
    elif how == "unsigned":
        sign = torch.ones_like(sign)
    return _pool(table, bucket, inside * sign / divisor[:, None])


def reference(tokens: Tensor, lengths: Tensor, table: Tensor) -> Tensor:
    return _bag(tokens, lengths, table)


def mutants(tokens: Tensor, lengths: Tensor, table: Tensor) -> dict[str, Tensor]:
    return {
        "hash taken as signed": _bag(tokens, lengths, table, "signed"),
        "bucket from the unshifted hash": _bag(tokens, lengths, table, "unshifted"),
        "sign from the top bit": _bag(tokens, lengths, table, "top_sign"),
        "divided by the length": _bag(tokens, lengths, table, "length"),
        "padding hashed too": _bag(tokens, lengths, table, "padding"),
        "no sign": _bag(tokens, lengths, table, "unsigned"),
        "polynomial backwards": _bag(tokens, lengths, table, "reversed"),
    }


def cost(case: Case) -> Cost:
    rows, seq, buckets, dim = (
        case.axes["rows"],
        case.axes["seq"],
        case.axes["buckets"],
        case.axes["dim"],
    )
    return Cost(
        bytes=4 * rows * (seq + 1) + 2 * buckets * dim + 4 * rows * dim, flops=2 * rows * seq * dim
    )
