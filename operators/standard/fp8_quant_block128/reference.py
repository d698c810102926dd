"""Quantises to float8 e4m3 with one scale per block of 128 x 128."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

GREATEST = 448.0
SIDE = 128


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    blocks = (case.axes["row_blocks"], case.axes["col_blocks"])
    if case.distribution in ("grid", "ties"):
        # The block scales are powers of two, so the quotients are exact. In `grid` they are e4m3
        # values. In `ties` they also include midpoints of neighbouring e4m3 values.
        quotient = (
            _grid((rows, cols), rng) if case.distribution == "grid" else _halfway((rows, cols), rng)
        )
        quotient[::SIDE, ::SIDE] = GREATEST
        quotient[-1, -1] = 0.75
        # Neighbouring blocks have different scales.
        index = rng.integers((1,), 0, 4, torch.int32) + torch.arange(
            blocks[0] * blocks[1], device=rng.device
        ).reshape(blocks)
        return {
            "x": (quotient * _spread(torch.exp2((index % 4 - 6).float()), rows, cols)).to(
                case.dtype
            )
        }
    x = rng.normal((rows, cols), torch.float32) * _spread(
        rng.uniform(blocks, torch.float32, 0.2, 2.0), rows, cols
    )
    if case.distribution == "spikes":
        # A few values are large. So the block's scale is large, and most scaled values of the block
        # are subnormal in e4m3.
        x += 3000.0 * (rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.0001)
    elif case.distribution == "zero_blocks":
        kept = rng.integers(blocks, 0, 2, torch.int32) * (
            torch.arange(blocks[1], device=rng.device) != 1
        )
        kept[-1, -1] = 1  # The last block is not zero, because its last element is checked.
        x *= _spread(kept.float(), rows, cols)
        x[: min(rows, SIDE), : min(cols, SIDE)] = 1.0
    # The last element is not a maximum, so that saturation cannot hide an error in it.
    x[-1, -1] = 0.5 * x[-1, -2]
    return {"x": _without_near_ties(x.to(case.dtype))}


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


def _spread(per_block: Tensor, rows: int, cols: int) -> Tensor:
    """Expands one value per block to one value per element."""
    return per_block.repeat_interleave(SIDE, 0)[:rows].repeat_interleave(SIDE, 1)[:, :cols]


def _maxima(x: Tensor) -> Tensor:
    rows, cols = x.shape
    padded = torch.nn.functional.pad(x.abs(), (0, -cols % SIDE, 0, -rows % SIDE))
    return padded.reshape(padded.shape[0] // SIDE, SIDE, padded.shape[1] // SIDE, SIDE).amax(
        dim=(1, 3)
    )


def _scale(x: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the block scales, and the divisor of each element."""
    wide = x if x.dtype == torch.float64 else x.float()
    scale = _maxima(wide) / GREATEST
    return scale, _spread(
        torch.where(scale == 0, torch.ones_like(scale), scale), x.shape[0], x.shape[1]
    )


def _steps(quotient: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the quotient's magnitude divided by the distance between neighbouring e4m3 values,
    and that distance."""
    power = torch.frexp(quotient).exponent.clamp_min(-5) - 1
    step = torch.exp2((power - 3).to(quotient.dtype))
    return quotient.abs() / step, step


def _without_near_ties(x: Tensor) -> Tensor:
    """Sets entries to 0 if their quotient is so near a tie that correct implementations could round
    differently. Block maxima stay unchanged."""
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
    by_row = (x.to(scale.dtype).abs().amax(dim=1, keepdim=True) / GREATEST).clamp_min(1e-30)
    return {
        "rounds towards zero": (_rounded(position.floor() * step * quotient.sign()), scale),
        "ties away from zero": (_rounded((position + 0.5).floor() * step * quotient.sign()), scale),
        "subnormals flushed": (_rounded(quotient * (quotient.abs() >= 2.0**-6)), scale),
        "quantised by row": (_rounded(x.to(scale.dtype) / by_row), scale),
        "reciprocal of the scale": (
            _rounded(quotient),
            torch.where(scale == 0, torch.zeros_like(scale), 1.0 / scale),
        ),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    blocks = case.axes["row_blocks"] * case.axes["col_blocks"]
    return Cost(bytes=(case.dtype.itemsize + 1) * elements + 4 * blocks, flops=4 * elements)
