"""Computes the state that each chunk of a state-space layer contributes."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """x is scaled by the number of steps that a state remembers, so that the states are O(1)."""
    batch, seq, heads, head_dim = (
        case.axes[name] for name in ("batch", "seq", "heads", "head_dim")
    )
    strength = {"normal": 0.05, "strong": 4.0, "slow": 0.002, "swell": 0.0}[case.distribution]
    a = -strength * rng.uniform((batch, seq, heads), torch.float32, 0.0, 1.0)
    remembered = min(float(case.axes["chunk"]), 1.0 + 1.0 / max(strength, 0.001))
    # A kernel may round its products to float16. Smaller results keep these rounding errors well
    # below the tolerance.
    size = 0.5 if case.dtype == torch.float16 else 1.0
    x = size * remembered**-0.5 * rng.normal((batch, seq, heads, head_dim), torch.float32)
    b = rng.normal((batch, seq, case.axes["groups"], case.axes["state"]), torch.float32)
    dt = rng.uniform((batch, seq, heads), torch.float32, 0.5, 1.5)
    if case.distribution == "swell":
        # All weights are 1. Accumulators need more bits than float16 has.
        dt = torch.ones_like(dt)
        first, end = 0, case.axes["chunk"]
        while first < seq:
            steps = slice(first, min(end, seq))
            length = min(end, seq) - first
            for i in range(batch):
                for h in range(heads):
                    x[i, steps, h] = rng.swells(head_dim, length, 1)[0].T
                for g in range(b.shape[2]):
                    b[i, steps, g] = rng.swells(1, length, b.shape[3])[1]
            first, end = end, end + case.axes["chunk"]
    return {
        "x": x.to(case.dtype),
        "b": b.to(case.dtype),
        "dt": dt.to(case.dtype),
        "a": a.to(case.dtype),
        "chunk": case.axes["chunk"],
    }


def _states(x: Tensor, b: Tensor, dt: Tensor, a: Tensor, chunk: int, variant: str = "") -> Tensor:
    """Computes the result step by step. `variant` names the mistake of a mutant."""
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    batch, seq, heads, head_dim = x.shape
    groups, state = b.shape[2], b.shape[3]
    chunks = (seq + chunk - 1) // chunk
    missing = chunks * chunk - seq
    # Pads the last chunk with steps that have no decay and no input, so that they do not change its
    # state.
    pad = torch.nn.functional.pad
    decays = pad(a.double(), (0, 0, 0, missing)).reshape(batch, chunks, chunk, heads)
    steps = pad(dt.to(wide), (0, 0, 0, missing)).reshape(batch, chunks, chunk, heads)
    before = decays.cumsum(2)
    behind = decays.flip(2).cumsum(2).flip(2) - decays
    exponent = {"from the start": before, "own step": behind + decays}.get(variant, behind)
    w = torch.exp(exponent).to(wide) * (torch.ones_like(steps) if variant == "no dt" else steps)
    weighted = (
        pad(x.to(wide), (0, 0, 0, 0, 0, missing)).reshape(batch, chunks, chunk, heads, head_dim)
        * w[..., None]
    )
    keys = pad(b.to(wide), (0, 0, 0, 0, 0, missing)).reshape(batch, chunks, chunk, groups, state)
    out = torch.empty((batch, chunks, heads, head_dim, state), dtype=wide, device=x.device)
    for h in range(heads):
        g = h % groups if variant == "interleaved groups" else h // (heads // groups)
        out[:, :, h] = weighted[:, :, :, h].transpose(-1, -2) @ keys[:, :, :, g]
    if variant == "carried":
        kept = torch.exp(decays.sum(2)).to(wide)[..., None, None]
        for c in range(1, chunks):
            out[:, c] += kept[:, c] * out[:, c - 1]
    return out


def reference(x: Tensor, b: Tensor, dt: Tensor, a: Tensor, chunk: int) -> Tensor:
    return _states(x, b, dt, a, chunk)


def mutants(
    x: Tensor, b: Tensor, dt: Tensor, a: Tensor, chunk: int
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    return {
        "decay from the chunk's start": _states(x, b, dt, a, chunk, "from the start"),
        "own step decays too": _states(x, b, dt, a, chunk, "own step"),
        "dt left out": _states(x, b, dt, a, chunk, "no dt"),
        "decay left out": _states(x, b, dt, torch.zeros_like(a), chunk),
        "heads interleaved over groups": _states(x, b, dt, a, chunk, "interleaved groups"),
        "states carried over": _states(x, b, dt, a, chunk, "carried"),
    }


def shortcuts(
    x: Tensor, b: Tensor, dt: Tensor, a: Tensor, chunk: int
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    """Leaves out the first half of each chunk."""
    early = torch.arange(dt.shape[1], device=dt.device) % chunk < chunk // 2
    return {"forget_past": _states(x, b, dt.masked_fill(early[None, :, None], 0.0), a, chunk)}


def cost(case: Case) -> Cost:
    batch, seq, heads, head_dim = (
        case.axes[name] for name in ("batch", "seq", "heads", "head_dim")
    )
    groups, state, chunks = (case.axes[name] for name in ("groups", "state", "chunks"))
    read = batch * seq * (heads * head_dim + groups * state + 2 * heads) * case.dtype.itemsize
    return Cost(
        bytes=read + 4 * batch * chunks * heads * head_dim * state,
        flops=2 * batch * seq * heads * head_dim * state,
    )
