"""Computes the cubic power mean of the products over k."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    a = rng.normal((m, k), torch.float32)
    b = rng.normal((k, n), torch.float32)
    if case.distribution == "extreme":
        # In float32 the cubes of a overflow and the cubes of b underflow. In addition, the rows
        # differ by powers of two.
        lift = torch.exp2(rng.integers((m, 1), 42, 45, torch.int32).float())
        a, b = a * lift, b * 2.0**-44
    elif case.distribution == "uneven":
        lift = torch.exp2(rng.integers((k,), -6, 7, torch.int32).float())
        a, b = a * lift, b / lift[:, None]
    elif case.distribution == "zero_rows":
        a[1::3] = 0.0
        b[:, 2::5] = 0.0
    return {"a": a, "b": b}


def _power_mean(a: Tensor, b: Tensor, power: float = 3.0, mean: bool = True) -> Tensor:
    """Computes the power mean. First scales rows of a and columns of b to a largest magnitude of 1,
    so that no cube overflows or underflows."""
    rows = a.abs().amax(dim=1, keepdim=True)
    columns = b.abs().amax(dim=0, keepdim=True)
    one = torch.ones((), dtype=a.dtype, device=a.device)
    left = (a / torch.where(rows == 0, one, rows)).abs() ** power
    right = (b / torch.where(columns == 0, one, columns)).abs() ** power
    total = left @ right
    return (total / a.shape[1] if mean else total) ** (1.0 / power) * (rows * columns)


def reference(a: Tensor, b: Tensor) -> Tensor:
    return _power_mean(a, b)


def mutants(a: Tensor, b: Tensor) -> dict[str, Tensor]:
    return {
        "sum instead of mean": _power_mean(a, b, mean=False),
        "root mean square": _power_mean(a, b, power=2.0),
        "sign kept": ((a @ b).abs() / a.shape[1]),
        "cubed without scaling": ((a.abs() ** 3) @ (b.abs() ** 3) / a.shape[1]) ** (1.0 / 3.0),
        "no root": _power_mean(a, b) ** 3,
    }


def cost(case: Case) -> Cost:
    m, n, k = case.axes["m"], case.axes["n"], case.axes["k"]
    return Cost(bytes=4 * (m * k + k * n + m * n), flops=2 * m * n * k)
