"""Rounds values to the 6-bit format e3m2 and packs four codes into three bytes."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    shape = (case.axes["rows"], 4 * case.axes["groups"])
    x = 3.0 * rng.normal(shape, torch.float32)
    if case.distribution == "ties":
        # Half of the entries are representable magnitudes or midpoints between two such magnitudes.
        # Each other entry is the next float above or below one of these values.
        table = torch.tensor(_magnitudes(), device=rng.device)
        points = torch.cat(
            (
                table,
                (table[1:] + table[:-1]) / 2.0,
                torch.tensor([30.0, 29.0, 32.0], device=rng.device),
            )
        )
        x = points[rng.integers(shape, 0, points.numel())]
        x = x * torch.where(rng.uniform(shape, torch.float32, 0.0, 1.0) < 0.5, -1.0, 1.0)
        x = x * (
            1.0
            + 2.0**-22
            * rng.integers(shape, -1, 2, torch.int32).float()
            * (rng.uniform(shape, torch.float32, 0.0, 1.0) < 0.5)
        )
    elif case.distribution == "extreme":
        x = rng.normal(shape, torch.float32) * torch.exp2(
            rng.integers(shape, -120, 120, torch.int32).float()
        )
        x = torch.where(
            rng.uniform(shape, torch.float32, 0.0, 1.0) < 0.1,
            torch.copysign(torch.full_like(x, float("inf")), x),
            x,
        )
        x = torch.where(
            rng.uniform(shape, torch.float32, 0.0, 1.0) < 0.1,
            torch.copysign(torch.zeros_like(x), x),
            x,
        )
    elif case.distribution == "tiny":
        x = 0.1 * rng.normal(shape, torch.float32)
    return {"x": x}


def _magnitudes() -> list[float]:
    """Returns the value of each code without its sign, in ascending order."""
    return [m / 16.0 for m in range(4)] + [
        (1.0 + m / 4.0) * 2.0 ** (e - 3) for e in range(1, 8) for m in range(4)
    ]


def _codes(x: Tensor, ties: str = "even", keep_sign_of_zero: bool = True) -> Tensor:
    table = torch.tensor(_magnitudes(), dtype=x.dtype, device=x.device)
    middles = (table[1:] + table[:-1]) / 2.0
    size = x.abs()
    # The code is the number of midpoints that are less than `size`. So a tie rounds down at first.
    code = torch.bucketize(size, middles, out_int32=True)
    tie = size == middles[code.clamp_max(middles.numel() - 1)]
    if ties == "even":
        code += tie & (code % 2 == 1)
    elif ties == "away":
        code += tie
    sign = torch.signbit(x) if keep_sign_of_zero else (x < 0) & (code > 0)
    return code + 32 * sign.to(torch.int32)


def _pack(codes: Tensor, high_first: bool = False, big_endian: bool = False) -> Tensor:
    c0, c1, c2, c3 = codes.unflatten(1, (-1, 4)).unbind(-1)
    word = c3 | c2 << 6 | c1 << 12 | c0 << 18 if high_first else c0 | c1 << 6 | c2 << 12 | c3 << 18
    shifts = (16, 8, 0) if big_endian else (0, 8, 16)
    return torch.stack([(word >> shift & 255).to(torch.uint8) for shift in shifts], dim=-1).flatten(
        1
    )


def reference(x: Tensor) -> Tensor:
    return _pack(_codes(x))


def mutants(x: Tensor) -> dict[str, Tensor]:
    codes = _codes(x)
    subnormal = (codes & 31) < 4
    return {
        "ties away from zero": _pack(_codes(x, ties="away")),
        "ties towards zero": _pack(_codes(x, ties="down")),
        "subnormals flushed to zero": _pack(torch.where(subnormal, codes & 32, codes)),
        "sign of zero lost": _pack(_codes(x, keep_sign_of_zero=False)),
        "first code in the highest bits": _pack(codes, high_first=True),
        "highest byte first": _pack(codes, big_endian=True),
        "largest exponent kept for infinity": _pack(_codes(x.clamp(-14.0, 14.0))),
    }


def cost(case: Case) -> Cost:
    groups = case.axes["rows"] * case.axes["groups"]
    return Cost(bytes=(4 * 4 + 3) * groups, flops=4 * 8 * groups)
