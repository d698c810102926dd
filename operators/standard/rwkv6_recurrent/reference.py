"""Computes the WKV recurrence with data-dependent decay, step by step."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """v is scaled by the number of steps that the state remembers, so that o has a variance of
    about 1."""
    batch, heads, seq, key_dim = (case.axes[name] for name in ("batch", "heads", "seq", "key_dim"))
    keys = (batch, heads, seq, key_dim)
    strength = {"slow": 0.004, "forgetful": 1.0}.get(case.distribution, 0.1)
    w = -strength * rng.uniform(keys, torch.float32, 0.0, 1.0)
    if case.distribution == "forgetful":
        w *= torch.where(rng.uniform(keys, torch.float32, 0.0, 1.0) < 0.2, 60.0, 1.0)
    k = rng.normal(keys, torch.float32)
    if case.distribution == "spikes":
        k *= 1.0 + 4.0 * (rng.uniform((*keys[:3], 1), torch.float32, 0.0, 1.0) < 0.03)
    r = key_dim**-0.5 * rng.normal(keys, torch.float32)
    v = min(float(seq), 1.0 + 1.0 / strength) ** -0.5 * rng.normal(
        (batch, heads, seq, case.axes["value_dim"]), torch.float32
    )
    return {"r": r, "k": k, "v": v, "w": w, "bonus": rng.normal((heads, key_dim), torch.float32)}


def _recur(
    r: Tensor, k: Tensor, v: Tensor, w: Tensor, bonus: Tensor, variant: str = ""
) -> tuple[Tensor, Tensor]:
    """Computes the result step by step. `variant` names the mistake of a mutant."""
    state = torch.zeros((*v.shape[:2], k.shape[3], v.shape[3]), dtype=r.dtype, device=r.device)
    out = torch.empty_like(v)
    for t in range(r.shape[2]):
        added = k[:, :, t, :, None] * v[:, :, t, None, :]
        decay = torch.exp(w[:, :, t, :, None])
        new = decay * (state + added) if variant == "decays itself" else decay * state + added
        seen = (
            new
            if variant == "new state"
            else (decay * state if variant == "decays first" else state) + bonus[..., None] * added
        )
        out[:, :, t] = (r[:, :, t, :, None] * seen).sum(-2)
        state = new
    return out, state


def reference(r: Tensor, k: Tensor, v: Tensor, w: Tensor, bonus: Tensor) -> tuple[Tensor, Tensor]:
    return _recur(r, k, v, w, bonus)


def mutants(
    r: Tensor, k: Tensor, v: Tensor, w: Tensor, bonus: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "bonus left out": _recur(r, k, v, w, torch.zeros_like(bonus)),
        "bonus of the first head for all": _recur(r, k, v, w, bonus[:1].expand_as(bonus)),
        "output from the new state": _recur(r, k, v, w, bonus, "new state"),
        "decay before the output": _recur(r, k, v, w, bonus, "decays first"),
        "a step decays itself": _recur(r, k, v, w, bonus, "decays itself"),
        "w is the decay itself": _recur(r, k, v, (-w).clamp(min=1e-30).log(), bonus),
    }


def cost(case: Case) -> Cost:
    batch, heads, seq = case.axes["batch"], case.axes["heads"], case.axes["seq"]
    key_dim, value_dim = case.axes["key_dim"], case.axes["value_dim"]
    steps = batch * heads * seq
    elements = (
        steps * (3 * key_dim + 2 * value_dim)
        + heads * key_dim
        + batch * heads * key_dim * value_dim
    )
    return Cost(bytes=4 * elements, flops=steps * (5 * key_dim * value_dim + 4 * key_dim))
