"""Unpacks MXFP4: two e2m1 values per byte, with a power-of-two scale per 32 values."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, groups = case.axes["rows"], case.axes["groups"]
    half = case.dtype == torch.float16
    low, high = (124, 128)
    if case.distribution == "extreme":
        low, high = (117, 137) if half else (64, 191)
    packed = rng.integers((rows, 16 * groups), 0, 256, torch.uint8)
    # The last byte contains two values that are neither zero nor equal, so that an error in the
    # last element is visible.
    packed[-1, -1] = 0x52
    return {
        "packed": packed,
        "scale": rng.integers((rows, groups), low, high, torch.uint8),
        "half": half,
    }


def _unpacked(
    low: Tensor,
    high: Tensor,
    exponent: Tensor,
    half: bool,
    magnitudes: tuple[float, ...] = MAGNITUDES,
) -> Tensor:
    """Computes in float32, where powers of two and their products with e2m1 values are exact."""
    nibbles = torch.stack((low, high), dim=2).flatten(1).long()
    table = torch.tensor(
        [*magnitudes, *(-m for m in magnitudes)], dtype=torch.float32, device=low.device
    )
    factor = torch.exp2(exponent.double()).to(torch.float32).repeat_interleave(32, dim=1)
    return (table[nibbles] * factor).to(torch.float16 if half else torch.bfloat16)


def reference(packed: Tensor, scale: Tensor, half: bool) -> Tensor:
    return _unpacked(packed & 15, packed >> 4, scale.int() - 127, half)


def mutants(packed: Tensor, scale: Tensor, half: bool) -> dict[str, Tensor | tuple[Tensor, ...]]:
    low, high, exponent = packed & 15, packed >> 4, scale.int() - 127
    return {
        "nibbles exchanged": _unpacked(high, low, exponent, half),
        "bias 128": _unpacked(low, high, exponent - 1, half),
        "scale of the row's first group": _unpacked(
            low, high, exponent[:, :1].expand_as(exponent), half
        ),
        "subnormal 0.5 taken as 0": _unpacked(
            low, high, exponent, half, (0.0, 0.0, *MAGNITUDES[2:])
        ),
        "sign left out": _unpacked(low & 7, high & 7, exponent, half),
    }


def cost(case: Case) -> Cost:
    rows, groups = case.axes["rows"], case.axes["groups"]
    return Cost(bytes=rows * groups * (16 + 1 + 64), flops=32 * rows * groups)
