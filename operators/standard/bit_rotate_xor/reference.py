"""Computes rotl32(x, s) ^ y."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    low, high = -(1 << 31), 1 << 31
    x = rng.integers((n,), low, high, torch.int32)
    y = rng.integers((n,), low, high, torch.int32)
    s = rng.integers((n,), -100, 100, torch.int32)
    if case.distribution == "edges":
        # The shift amounts are multiples of 32 and their neighbours, up to both limits of int32.
        s = (32 * rng.integers((n,), -(1 << 26) + 1, (1 << 26) - 1) + rng.integers((n,), -1, 2)).to(
            torch.int32
        )
        s[n // 2], s[n // 3] = low, high - 1
    elif case.distribution == "single_bits":
        # x has one set bit, and y is mostly zero, so that a lost or duplicated bit is visible.
        x = _signed(1 << rng.integers((n,), 0, 32))
        y = y & 1
    return {"x": x, "s": s, "y": y}


def _signed(word: Tensor) -> Tensor:
    """Converts 32 bits in an int64 to int32."""
    return torch.where(word >= 1 << 31, word - (1 << 32), word).to(torch.int32)


def _rotate(x: Tensor, amount: Tensor) -> Tensor:
    word = x.to(torch.int64) & 0xFFFFFFFF
    left = amount.to(torch.int64) & 31
    return _signed(((word << left) | (word >> (32 - left))) & 0xFFFFFFFF)


def reference(x: Tensor, s: Tensor, y: Tensor) -> Tensor:
    return _rotate(x, s) ^ y


def mutants(x: Tensor, s: Tensor, y: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    left = s.to(torch.int64) & 31
    smeared = ((x.to(torch.int64) << left) | (x.to(torch.int64) >> (32 - left))) & 0xFFFFFFFF
    return {
        "arithmetic shift to the right": _signed(smeared) ^ y,
        "rotated to the right": _rotate(x, -s) ^ y,
        "shifted, not rotated": _signed((x.to(torch.int64) << left) & 0xFFFFFFFF) ^ y,
        "amount limited to 31": _rotate(x, s.clamp(0, 31)) ^ y,
        "or instead of exclusive or": _rotate(x, s) | y,
        "rotated after the exclusive or": _rotate(x ^ y, s),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=16 * n, flops=5 * n)
