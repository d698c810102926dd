"""Quantises to float8 e4m3 with one scale per row."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

GREATEST = 448.0


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    if case.distribution in ("grid", "ties"):
        # The row scales are powers of two, so the quotients are exact. In `grid` they are e4m3
        # values. In `ties` they also include midpoints of neighbouring e4m3 values.
        quotient = (
            _grid((rows, cols), rng) if case.distribution == "grid" else _halfway((rows, cols), rng)
        )
        quotient[:, 0] = GREATEST
        quotient[-1, -1] = 0.75
        return {
            "x": (quotient * torch.exp2(rng.integers((rows, 1), -6, -2, torch.int32).float())).to(
                torch.float16
            )
        }
    x = rng.normal((rows, cols), torch.float32)
    if case.distribution == "spikes":
        # A few values are large. So the row's scale is large, and most scaled values of the row are
        # subnormal in e4m3.
        x += 3000.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.001)
    elif case.distribution == "tail":
        x[:, : cols - cols // 8] *= 0.01
    elif case.distribution == "zero_rows":
        x[1::3] = 0.0
    # The last element is not a maximum, so that saturation cannot hide an error in it.
    x[-1, -1] = 0.5 * x[-1, -2]
    return {"x": _without_near_ties(x.to(torch.float16))}


def _grid(shape: tuple[int, int], rng: Rng) -> Tensor:
    """Returns random finite e4m3 values of both signs."""
    sign = 1.0 - 2.0 * rng.integers(shape, 0, 2, torch.int32)
    return sign * rng.integers(shape, 0, 127, torch.uint8).view(torch.float8_e4m3fn).float()


def _halfway(shape: tuple[int, int], rng: Rng) -> Tensor:
    """Returns multiples of half the distance between neighbouring e4m3 values, from subnormal
    magnitudes up to 248."""
    sign = 1.0 - 2.0 * rng.integers(shape, 0, 2, torch.int32)
    power = torch.exp2(rng.integers(shape, -6, 8, torch.int32).float())
    normal = power * (1.0 + rng.integers(shape, 0, 16, torch.int32) / 16.0)
    subnormal = rng.integers(shape, 0, 16, torch.int32) * 2.0**-10
    return sign * torch.where(rng.uniform(shape, torch.float32, 0.0, 1.0) < 0.2, subnormal, normal)


def _steps(quotient: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the quotient's magnitude divided by the distance between neighbouring e4m3 values,
    and that distance."""
    power = torch.frexp(quotient).exponent.clamp_min(-5) - 1
    step = torch.exp2((power - 3).to(quotient.dtype))
    return quotient.abs() / step, step


def _scale(x: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the scale of each row, and the divisor of each row (1 if the scale is 0)."""
    wide = x if x.dtype == torch.float64 else x.float()
    scale = wide.abs().amax(dim=-1) / GREATEST
    return scale, torch.where(scale == 0, torch.ones_like(scale), scale)[:, None]


def _without_near_ties(x: Tensor) -> Tensor:
    """Sets entries to 0 if their quotient is so near a tie that correct implementations could round
    differently. Row maxima stay unchanged."""
    position, _ = _steps(x.float() / _scale(x)[1])
    return torch.where((position - position.floor() - 0.5).abs() < 2e-3, torch.zeros_like(x), x)


def _rounded(quotient: Tensor) -> Tensor:
    values = quotient.to(torch.float8_e4m3fn)
    return values.double() if quotient.dtype == torch.float64 else values


def reference(x: Tensor) -> tuple[Tensor, Tensor]:
    scale, divisor = _scale(x)
    return _rounded(x.to(scale.dtype) / divisor), scale


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    scale, divisor = _scale(x)
    quotient = x.to(scale.dtype) / divisor
    position, step = _steps(quotient)
    whole = x.to(scale.dtype).abs().max() / GREATEST
    return {
        "rounds towards zero": (_rounded(position.floor() * step * quotient.sign()), scale),
        "ties away from zero": (_rounded((position + 0.5).floor() * step * quotient.sign()), scale),
        "subnormals flushed": (_rounded(quotient * (quotient.abs() >= 2.0**-6)), scale),
        "one scale for the whole tensor": (
            _rounded(x.to(scale.dtype) / whole),
            whole.expand_as(scale),
        ),
        "signed maximum": (_rounded(quotient), x.to(scale.dtype).amax(dim=-1) / GREATEST),
        "range of e5m2": (quotient.to(torch.float8_e5m2).to(torch.float8_e4m3fn), scale),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=3 * rows * cols + 4 * rows, flops=4 * rows * cols)
