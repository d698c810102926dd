"""Computes a selective state-space scan step by step."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In the distribution `long_memory`, states decay slowly, so that early steps still affect the
    end. b is smaller, so that the states do not grow."""
    batch, seq, dim, state = (case.axes[name] for name in ("batch", "seq", "dim", "state"))
    u = rng.normal((batch, seq, dim), torch.float32)
    delta = rng.uniform((batch, seq, dim), torch.float32, 0.02, 0.2)
    order = torch.arange(1, state + 1, dtype=torch.float32, device=rng.device)
    a = -order * rng.uniform((dim, 1), torch.float32, 0.8, 1.2)
    b = rng.normal((batch, seq, state), torch.float32)
    c = 0.5 * rng.normal((batch, seq, state), torch.float32)
    if case.distribution == "long_memory":
        a *= 0.02
        b *= 0.3
    elif case.distribution == "spikes":
        delta += 1.5 * (rng.uniform((batch, seq, dim), torch.float32, 0.0, 1.0) < 0.02)
    return {
        "u": u,
        "delta": delta,
        "a": a,
        "b": b,
        "c": c,
        "skip": 0.5 * rng.normal((dim,), torch.float32),
    }


def _scan(
    u: Tensor,
    delta: Tensor,
    a: Tensor,
    b: Tensor,
    c: Tensor,
    skip: Tensor,
    variant: str = "",
    reset: int = 0,
) -> tuple[Tensor, Tensor]:
    """Computes the scan. `variant` names the mistake of a mutant. The state is cleared after every
    `reset` steps (another mutant's mistake)."""
    batch, seq, dim = u.shape
    h = torch.zeros((batch, dim, a.shape[1]), dtype=u.dtype, device=u.device)
    y = torch.empty_like(u)
    for t in range(seq):
        step = delta[:, t, :, None]
        decay = 1.0 + step * a if variant == "euler" else torch.exp(step * a)
        gain = torch.ones_like(step) if variant == "no delta" else step
        added = gain * b[:, t, None, :] * u[:, t, :, None]
        if reset and t % reset == 0:
            h = torch.zeros_like(h)
        before = h
        h = decay * (h + added) if variant == "decays the input" else decay * h + added
        y[:, t] = ((before if variant == "old state" else h) * c[:, t, None, :]).sum(-1)
    return y + skip * u, h


def reference(
    u: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, skip: Tensor
) -> tuple[Tensor, Tensor]:
    return _scan(u, delta, a, b, c, skip)


def mutants(
    u: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, skip: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "skip left out": _scan(u, delta, a, b, c, torch.zeros_like(skip)),
        "1 + delta * a instead of exp": _scan(u, delta, a, b, c, skip, "euler"),
        "delta left out of the input": _scan(u, delta, a, b, c, skip, "no delta"),
        "input decays in its own step": _scan(u, delta, a, b, c, skip, "decays the input"),
        "output from the old state": _scan(u, delta, a, b, c, skip, "old state"),
        "state lost every 32 steps": _scan(u, delta, a, b, c, skip, reset=32),
        "b and c exchanged": _scan(u, delta, a, c, b, skip),
    }


def cost(case: Case) -> Cost:
    batch, seq, dim, state = (case.axes[name] for name in ("batch", "seq", "dim", "state"))
    elements = (
        3 * batch * seq * dim + 2 * batch * seq * state + dim * state + dim + batch * dim * state
    )
    return Cost(bytes=4 * elements, flops=batch * seq * dim * (7 * state + 2))
