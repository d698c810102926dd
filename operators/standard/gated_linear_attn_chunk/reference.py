"""Computes gated linear attention step by step."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """v is scaled by the number of steps that the state remembers, so that |o| stays below about
    5."""
    batch, heads, seq, key_dim = (case.axes[name] for name in ("batch", "heads", "seq", "key_dim"))
    keys, values = (batch, heads, seq, key_dim), (batch, heads, seq, case.axes["value_dim"])
    strength = {"normal": 0.1, "strong": 1.0, "slow": 0.004, "mixed": 0.1, "fine": 0.1}[
        case.distribution
    ]
    g = -strength * rng.uniform(keys, torch.float32, 0.0, 1.0)
    if case.distribution == "mixed":
        # Every eighth step has strong gates. The gates of every third key are ten times weaker.
        g[:, :, ::8] = -1.0
        g[..., ::3] *= 0.1
    v = 0.5 * min(float(seq), 1.0 + 1.0 / strength) ** -0.5 * rng.normal(values, torch.float32)
    q, k = rng.normal(keys, torch.float32), rng.normal(keys, torch.float32)
    if case.distribution == "fine":
        q, k, v, g = _exact(rng, keys, values)
    return {
        "q": q.to(case.dtype),
        "k": k.to(case.dtype),
        "v": v.to(case.dtype),
        "g": g.to(case.dtype),
        "scale": key_dim**-0.5,
    }


def _exact(
    rng: Rng, keys: tuple[int, int, int, int], values: tuple[int, int, int, int]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Makes q, k, v and g such that a rounding to bfloat16 shows. In the first head each output is
    one element of q times one of v, and in the second head it is one of k, up to its sign: every
    step uses a key of its own, and there is no decay. In the other heads, only the last step reads
    what the first step wrote. g has the same value in all steps, and bfloat16 rounds it by 2^-10."""
    _, _, seq, key_dim = keys
    step = torch.arange(seq, device=rng.device)
    own = torch.nn.functional.one_hot(step % key_dim, key_dim).to(torch.float32)
    q, k = own.expand(keys).clone(), own.expand(keys).clone()
    g = torch.zeros(keys, device=rng.device)
    v = key_dim**0.5 * (1.0 - 2.0 * rng.integers(values, 0, 2, torch.float32))
    q[:, 0] *= rng.fine(keys[:1] + keys[2:])
    k[:, 1] *= rng.fine(keys[:1] + keys[2:])
    v[:, 0] = key_dim**0.5 * rng.fine(values[:1] + values[2:])
    g[:, 2:] = -273.0 / 1024.0
    k[:, 2:, 1:], q[:, 2:, :-1] = 0.0, 0.0
    k[:, 2:, 0], q[:, 2:, -1, 0] = 8.0, 8.0
    return q, k, v, g


def _attend(q: Tensor, k: Tensor, v: Tensor, g: Tensor, scale: float, variant: str = "") -> Tensor:
    """Computes the result step by step. `variant` names the mistake of a mutant."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    q, k, v, decay = q.to(wide), k.to(wide), v.to(wide), torch.exp(g.to(wide))
    state = torch.zeros((*k.shape[:2], k.shape[3], v.shape[3]), dtype=wide, device=q.device)
    out = torch.empty(v.shape, dtype=wide, device=q.device)
    for t in range(q.shape[2]):
        if variant == "forgets" and t % 64 == 0:
            state = torch.zeros_like(state)
        kept = decay[:, :, t, :, None]
        added = k[:, :, t, :, None] * v[:, :, t, None, :]
        old = state
        state = kept * (state + added) if variant == "decays itself" else kept * state + added
        seen = old if variant == "old state" else state
        out[:, :, t] = scale * (q[:, :, t, :, None] * seen).sum(-2)
    return out


def reference(q: Tensor, k: Tensor, v: Tensor, g: Tensor, scale: float) -> Tensor:
    return _attend(q, k, v, g, scale)


def mutants(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, scale: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "decay left out": _attend(q, k, v, torch.zeros_like(g), scale),
        "scale left out": _attend(q, k, v, g, 1.0),
        "a step decays itself": _attend(q, k, v, g, scale, "decays itself"),
        "output from the old state": _attend(q, k, v, g, scale, "old state"),
        "chunks of 64 without a carried state": _attend(q, k, v, g, scale, "forgets"),
        "one decay for all key dimensions": _attend(
            q, k, v, g.mean(-1, keepdim=True).expand_as(g), scale
        ),
    }


def cost(case: Case) -> Cost:
    batch, heads, seq = case.axes["batch"], case.axes["heads"], case.axes["seq"]
    key_dim, value_dim = case.axes["key_dim"], case.axes["value_dim"]
    steps = batch * heads * seq
    return Cost(
        bytes=steps * (2 * (3 * key_dim + value_dim) + 4 * value_dim),
        flops=5 * steps * key_dim * value_dim,
    )
