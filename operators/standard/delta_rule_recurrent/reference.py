"""Computes the delta rule step by step."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    batch, heads, seq, key_dim = (case.axes[name] for name in ("batch", "heads", "seq", "key_dim"))
    keys = (batch, heads, seq, key_dim)
    q, k = rng.normal(keys, torch.float32), rng.normal(keys, torch.float32)
    low, high = {"slow": (0.01, 0.1), "sharp": (0.9, 0.999)}.get(case.distribution, (0.1, 0.9))
    beta = rng.uniform(keys[:3], torch.float32, low, high)
    if case.distribution == "repeated":
        # The same five keys recur with slight changes, so each correction of the state mostly
        # cancels an earlier correction.
        k = 0.1 * k + k[:, :, torch.arange(seq, device=rng.device) % min(5, seq)]
    q = 2.0 * q / q.norm(dim=-1, keepdim=True)
    k = k / k.norm(dim=-1, keepdim=True)
    return {
        "q": q,
        "k": k,
        "v": rng.normal((batch, heads, seq, case.axes["value_dim"]), torch.float32),
        "beta": beta,
    }


def _recur(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, variant: str = ""
) -> tuple[Tensor, Tensor]:
    """Computes the recurrence. `variant` names the mistake of a mutant."""
    state = torch.zeros((*v.shape[:2], v.shape[3], k.shape[3]), dtype=q.dtype, device=q.device)
    out = torch.empty_like(v)
    for t in range(q.shape[2]):
        key = k[:, :, t, None, :]
        old = state
        known = torch.zeros_like(v[:, :, t]) if variant == "no delta" else (state * key).sum(-1)
        rate = beta[:, :, t, None]
        error = (
            rate * v[:, :, t] - known
            if variant == "beta on v alone"
            else rate * (v[:, :, t] - known)
        )
        state = state + error[..., None] * key
        out[:, :, t] = ((old if variant == "old state" else state) * q[:, :, t, None, :]).sum(-1)
    return out, state


def reference(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
    return _recur(q, k, v, beta)


def mutants(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    out = _recur(q, k, v, beta)[0]
    return {
        "beta left out": _recur(q, k, v, torch.ones_like(beta)),
        "what is known is not subtracted": _recur(q, k, v, beta, "no delta"),
        "beta scales only v": _recur(q, k, v, beta, "beta on v alone"),
        "output from the old state": _recur(q, k, v, beta, "old state"),
        "last state without its last step": (
            out,
            _recur(q[:, :, :-1], k[:, :, :-1], v[:, :, :-1], beta[:, :, :-1])[1],
        ),
    }


def cost(case: Case) -> Cost:
    batch, heads, seq = case.axes["batch"], case.axes["heads"], case.axes["seq"]
    key_dim, value_dim = case.axes["key_dim"], case.axes["value_dim"]
    steps = batch * heads * seq
    elements = steps * (2 * key_dim + 2 * value_dim + 1) + batch * heads * key_dim * value_dim
    return Cost(bytes=4 * elements, flops=6 * steps * key_dim * value_dim)
