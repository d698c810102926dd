"""Computes one AdamW step."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n = case.axes["n"]
    p = rng.normal((n,), torch.float32)
    g = rng.normal((n,), torch.float32)
    m = 0.5 * rng.normal((n,), torch.float32)
    v = rng.uniform((n,), torch.float32, 0.05, 2.0)
    step, lr, beta1, beta2, eps, weight_decay = 12, 0.02, 0.9, 0.98, 1e-8, 0.1
    if case.distribution == "first_step":
        m, v, step = torch.zeros_like(m), torch.zeros_like(v), 1
        lr, beta1, beta2, eps, weight_decay = 0.03, 0.8, 0.95, 1e-6, 0.05
    elif case.distribution == "spikes":
        g += 5.0 * (rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "late":
        step, lr = 100000, 0.05
    elif case.distribution == "tail":
        g[: n - n // 8] *= 0.1
    return {
        "p": p,
        "g": g,
        "m": m,
        "v": v,
        "lr": lr,
        "beta1": beta1,
        "beta2": beta2,
        "eps": eps,
        "weight_decay": weight_decay,
        "step": step,
    }


def reference(
    p: Tensor,
    g: Tensor,
    m: Tensor,
    v: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    step: int,
) -> tuple[Tensor, Tensor, Tensor]:
    m_new = beta1 * m + (1.0 - beta1) * g
    v_new = beta2 * v + (1.0 - beta2) * g * g
    update = (m_new / (1.0 - beta1**step)) / ((v_new / (1.0 - beta2**step)).sqrt() + eps)
    return p * (1.0 - lr * weight_decay) - lr * update, m_new, v_new


def mutants(
    p: Tensor,
    g: Tensor,
    m: Tensor,
    v: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    step: int,
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    p_new, m_new, v_new = reference(p, g, m, v, lr, beta1, beta2, eps, weight_decay, step)
    plain = m_new / (v_new.sqrt() + eps)
    return {
        "no bias correction": (p * (1.0 - lr * weight_decay) - lr * plain, m_new, v_new),
        "decay through the gradient": reference(
            p, g + weight_decay * p, m, v, lr, beta1, beta2, eps, 0.0, step
        ),
        "decay not scaled by the rate": (p_new + p * (lr - 1.0) * weight_decay, m_new, v_new),
        "decay left out": (p_new + p * lr * weight_decay, m_new, v_new),
        "gradient not squared": (p_new, m_new, beta2 * v + (1.0 - beta2) * g.abs()),
        "betas swapped": reference(p, g, m, v, lr, beta2, beta1, eps, weight_decay, step),
        "moments not written": (p_new, m, v),
    }


def cost(case: Case) -> Cost:
    n = case.axes["n"]
    return Cost(bytes=7 * 4 * n, flops=16 * n)
