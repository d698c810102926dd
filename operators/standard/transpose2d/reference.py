"""Transposes a matrix."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((rows, cols), torch.float32)
    if case.distribution == "nearly_symmetric":
        # The matrix is square. It equals its own transpose except in one corner, so only a kernel
        # that moves this corner passes.
        x = x + x.T
        x[: rows // 4, cols - cols // 4 :] += 1.0
    return {"x": x.to(case.dtype)}


def reference(x: Tensor) -> Tensor:
    return x.T.contiguous()


def mutants(x: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    rows, cols = x.shape
    partly = x.T.contiguous()
    partly[cols - cols % 16 :] = 0
    return {
        "reshaped, not transposed": x.reshape(cols, rows),
        "turned by 90 degrees": torch.rot90(x).contiguous(),
        "transposed about the other diagonal": x.flip(0, 1).T.contiguous(),
        "columns past the last whole tile left out": partly,
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["cols"]
    return Cost(bytes=2 * elements * case.dtype.itemsize, flops=0)
