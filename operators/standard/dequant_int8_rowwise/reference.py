"""Multiplies int8 values by one scale per row."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    values = rng.integers((rows, cols), -127, 128, torch.int8)
    scale = rng.uniform((rows,), torch.float32, 0.004, 0.0155)
    if case.distribution == "extreme":
        values = torch.where(
            rng.uniform((rows, cols), torch.float32, 0.0, 1.0) < 0.3,
            torch.full_like(values, -128),
            values,
        )
    elif case.distribution == "spread":
        # The scales cover seven orders of magnitude. Every fourth row keeps a large scale, and the
        # scale of row 7 is 0. The number of rows of such a case is 1 more than a multiple of 4, so
        # that the last row has a large scale, and a kernel that skips it errs visibly.
        small = scale * 10.0 ** rng.uniform((rows,), torch.float32, -7.0, 0.0)
        index = torch.arange(rows, device=rng.device)
        scale = torch.where(index % 4 == 0, scale, small)
        scale = torch.where(index == 7, torch.zeros_like(scale), scale)
    return {"values": values, "scale": scale}


def _scaled(values: Tensor, scale: Tensor) -> Tensor:
    exact = values.to(scale.dtype) * scale[:, None]
    return exact if scale.dtype == torch.float64 else exact.to(torch.float16)


def reference(values: Tensor, scale: Tensor) -> Tensor:
    return _scaled(values, scale)


def mutants(values: Tensor, scale: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "values read as unsigned": _scaled(values.view(torch.uint8), scale),
        "zero point 128 taken off": _scaled(values.to(torch.int16) - 128, scale),
        "scale of the row before": _scaled(
            values, torch.roll(scale, 1) if scale.numel() > 1 else 0.5 * scale
        ),
        "scale divided by 127 again": _scaled(values, scale / 127.0),
    }


def cost(case: Case) -> Cost:
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=3 * rows * cols + 4 * rows, flops=rows * cols)
