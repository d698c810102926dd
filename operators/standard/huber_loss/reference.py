"""Computes the Huber loss and its mean."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In the distribution `narrow`, most differences are larger than delta; in `parabola`, none is.
    In `outliers`, a few differences are thousands of times delta."""
    n = case.axes["n"]
    x = rng.normal((n,), torch.float32)
    y = rng.normal((n,), torch.float32)
    delta = {"narrow": 0.3, "outliers": 0.05, "parabola": 20.0}.get(case.distribution, 1.25)
    if case.distribution == "outliers":
        x += 600.0 * (rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.001)
    elif case.distribution == "heavy":
        x += 24.0 * (rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.002)
    elif case.distribution == "parabola":
        x *= 1.5
    elif case.distribution == "tail":
        x[: n - n // 8] *= 0.1
        y[: n - n // 8] *= 0.1
    return {"x": _off_grid(x), "y": _off_grid(y), "delta": delta}


def _off_grid(x: Tensor) -> Tensor:
    """Returns values whose magnitudes are each slightly larger than a bfloat16 number. So a cast to
    bfloat16 always rounds in the same direction, and the errors do not cancel out in a mean."""
    return x.to(torch.bfloat16).float() * 1.0017


def reference(x: Tensor, y: Tensor, delta: float) -> tuple[Tensor, Tensor]:
    distance = (x - y).abs()
    return _with_mean(
        torch.where(distance <= delta, 0.5 * distance.square(), delta * (distance - 0.5 * delta))
    )


def _with_mean(loss: Tensor) -> tuple[Tensor, Tensor]:
    return loss, loss.double().mean().reshape(1).to(loss.dtype)


def mutants(x: Tensor, y: Tensor, delta: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    distance = (x - y).abs()
    parabola = 0.5 * distance.square()
    line = delta * (distance - 0.5 * delta)
    loss, mean = reference(x, y, delta)
    return {
        "smooth L1": _with_mean(loss / delta),
        "squared everywhere": _with_mean(parabola),
        "factor of a half left out": _with_mean(
            torch.where(distance <= delta, distance.square(), line)
        ),
        "line without its offset": _with_mean(
            torch.where(distance <= delta, parabola, delta * distance)
        ),
        "delta taken to be one": reference(x, y, 1.0),
        "sum instead of mean": (loss, mean * loss.numel()),
        "sign of the difference kept": _with_mean(torch.where(x - y <= delta, parabola, line)),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=12 * n + 4, flops=6 * n)
