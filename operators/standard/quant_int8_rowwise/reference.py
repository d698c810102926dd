"""Quantises symmetrically to int8 with one scale per row."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    if case.distribution == "ties":
        # The row scales are powers of two, and the entries are multiples of half a step. So every
        # second quotient is an exact tie.
        step = torch.exp2(rng.integers((rows, 1), -7, -2, torch.int32).float())
        x = 0.5 * step * rng.integers((rows, cols), -253, 254, torch.int32)
        x[:, :1] = 127.0 * step
        return {"x": x.to(case.dtype)}
    x = rng.normal((rows, cols), torch.float32)
    if case.distribution == "spikes":
        x += 50.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.001)
    elif case.distribution == "tail":
        x[:, : cols - cols // 8] *= 0.1
    elif case.distribution == "zero_rows":
        x[1::3] = 0.0
    x = x.to(case.dtype)
    return {"x": _without_near_ties(x)}


def _without_near_ties(x: Tensor) -> Tensor:
    """Sets entries to 0 if their quotient is so near a tie that correct implementations could round
    differently. Row maxima stay unchanged."""
    wide = x.double()
    scale = wide.abs().amax(dim=-1, keepdim=True) / 127.0
    quotient = wide / torch.where(scale == 0, torch.ones_like(scale), scale)
    return torch.where((quotient - quotient.floor() - 0.5).abs() < 1e-3, torch.zeros_like(x), x)


def reference(x: Tensor) -> tuple[Tensor, Tensor]:
    wide = x if x.dtype == torch.float64 else x.float()
    scale = wide.abs().amax(dim=-1) / 127.0
    divisor = torch.where(scale == 0, torch.ones_like(scale), scale)
    return torch.round(wide / divisor[:, None]).to(torch.int8), scale


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    quantized, scale = reference(x)
    wide = x.float()
    divisor = torch.where(scale == 0, torch.ones_like(scale), scale)[:, None]
    quotient = wide / divisor
    whole = wide.abs().amax() / 127.0
    return {
        "truncated": (quotient.trunc().to(torch.int8), scale),
        "ties away from zero": (
            (quotient.abs() + 0.5).floor().copysign(quotient).to(torch.int8),
            scale,
        ),
        "steps of 1/128": (
            torch.round(quotient * 128.0 / 127.0).clamp(-128, 127).to(torch.int8),
            scale * 127.0 / 128.0,
        ),
        "largest, not largest magnitude": (
            torch.round(wide * 127.0 / wide.amax(dim=-1, keepdim=True).clamp_min(1e-6))
            .clamp(-127, 127)
            .to(torch.int8),
            scale,
        ),
        "one scale for all rows": (
            torch.round(wide / whole).to(torch.int8),
            torch.full_like(scale, float(whole)),
        ),
        "scale of zero rows is 1": (quantized, divisor[:, 0]),
        "scale's reciprocal": (quantized, 1.0 / divisor[:, 0]),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=3 * rows * cols + 4 * rows, flops=4 * rows * cols)
