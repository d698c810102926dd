"""Computes one Lion step."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

BETA1, BETA2 = 0.9, 0.98


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    lr, beta1, beta2, weight_decay = 0.03, BETA1, BETA2, 0.5
    p, g, m = (
        rng.normal((n,), torch.float32),
        rng.normal((n,), torch.float32),
        0.5 * rng.normal((n,), torch.float32),
    )
    if case.distribution == "first_step":
        m = torch.zeros_like(m)
    elif case.distribution == "spikes":
        g += 30.0 * (rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "tail":
        g[: n - n // 8] *= 0.1
    elif case.distribution == "zeros":
        lr, beta1, beta2, weight_decay = 0.05, 0.85, 0.95, 0.3
    # If rounding could change the sign of an element's step, sets the element's g and m to 0, so
    # that the step is 0.
    doubtful = (beta1 * m + (1.0 - beta1) * g).abs() < 0.0011
    if case.distribution == "zeros":
        doubtful |= rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.2
    g, m = g.masked_fill(doubtful, 0.0), m.masked_fill(doubtful, 0.0)
    return {
        "p": p,
        "g": g,
        "m": m,
        "lr": lr,
        "beta1": beta1,
        "beta2": beta2,
        "weight_decay": weight_decay,
    }


def reference(
    p: Tensor, g: Tensor, m: Tensor, lr: float, beta1: float, beta2: float, weight_decay: float
) -> tuple[Tensor, Tensor]:
    step = torch.sign(beta1 * m + (1.0 - beta1) * g)
    return p * (1.0 - lr * weight_decay) - lr * step, beta2 * m + (1.0 - beta2) * g


def mutants(
    p: Tensor, g: Tensor, m: Tensor, lr: float, beta1: float, beta2: float, weight_decay: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    p_new, m_new = reference(p, g, m, lr, beta1, beta2, weight_decay)
    c = beta1 * m + (1.0 - beta1) * g
    keep = 1.0 - lr * weight_decay
    return {
        "sign of 0 is 1": (p * keep - lr * torch.where(c >= 0, 1.0, -1.0), m_new),
        "betas exchanged": reference(p, g, m, lr, beta2, beta1, weight_decay),
        "step from the new momentum": (p * keep - lr * torch.sign(m_new), m_new),
        "decay coupled to the gradient": (p - lr * torch.sign(c + weight_decay * p), m_new),
        "weight decay left out": (p - lr * torch.sign(c), m_new),
        "momentum keeps c": (p_new, c),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=5 * 4 * n, flops=9 * n)
