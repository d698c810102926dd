"""Computes one SGD step with Nesterov momentum and weight decay."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    p, g, buf = (
        rng.normal((n,), torch.float32),
        rng.normal((n,), torch.float32),
        rng.normal((n,), torch.float32),
    )
    lr, momentum, weight_decay = 0.1, 0.9, 0.2
    if case.distribution == "first_step":
        buf = torch.zeros_like(buf)
    elif case.distribution == "no_momentum":
        momentum = 0.0
    elif case.distribution == "cancellation":
        lr, momentum, weight_decay = 0.05, 0.8, 0.1
        g = 0.1 * g - momentum * buf
    elif case.distribution == "spikes":
        g += 5.0 * (rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "tail":
        g[: n - n // 8] *= 0.1
    return {
        "p": p,
        "g": g,
        "buf": buf,
        "lr": lr,
        "momentum": momentum,
        "weight_decay": weight_decay,
    }


def reference(
    p: Tensor, g: Tensor, buf: Tensor, lr: float, momentum: float, weight_decay: float
) -> tuple[Tensor, Tensor]:
    d = g + weight_decay * p
    new = momentum * buf + d
    return p - lr * (d + momentum * new), new


def mutants(
    p: Tensor, g: Tensor, buf: Tensor, lr: float, momentum: float, weight_decay: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    d = g + weight_decay * p
    new = momentum * buf + d
    plain = momentum * buf + g
    damped = momentum * buf + (1.0 - momentum) * d
    return {
        "momentum without Nesterov": (p - lr * new, new),
        "Nesterov with the old buffer": (p - lr * (d + momentum * buf), new),
        "decay decoupled": (p * (1.0 - lr * weight_decay) - lr * (g + momentum * plain), plain),
        "weight decay left out": reference(p, g, buf, lr, momentum, 0.0),
        "dampened by the momentum": (p - lr * (d + momentum * damped), damped),
        "decay left out of the buffer": (p - lr * (d + momentum * new), plain),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=5 * 4 * n, flops=8 * n)
