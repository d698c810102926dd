"""Computes retention: causal linear attention with a fixed decay per head."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """v is scaled by the number of steps that a head remembers, so that |o| stays below about 5 in
    all heads."""
    batch, heads, seq, key_dim = (case.axes[name] for name in ("batch", "heads", "seq", "key_dim"))
    keys = (batch, heads, seq, key_dim)
    q, k = rng.normal(keys, torch.float32), rng.normal(keys, torch.float32)
    v = rng.normal((batch, heads, seq, case.axes["value_dim"]), torch.float32)
    remembered = torch.exp2(
        4.0 + torch.arange(heads, dtype=torch.float32, device=rng.device)
    ).clamp(max=float(seq))
    v *= 0.5 * remembered[:, None, None] ** -0.5
    if case.distribution == "spikes":
        v *= 1.0 + 3.0 * (rng.uniform((batch, heads, seq, 1), torch.float32, 0.0, 1.0) < 0.03)
    elif case.distribution == "aligned":
        # Most scores are positive.
        q += 1.0
        k += 1.0
        v *= key_dim**-0.5
    elif case.distribution == "fine":
        # There is one step. In the first three heads, each element of o is one element of q, k or
        # v, so a rounding to bfloat16 shows. In the other heads, accumulators of the scores need
        # more bits than float16 has.
        q, k = torch.zeros_like(q), torch.zeros_like(k)
        q[..., 0], k[..., 0] = 1.0, 1.0
        v = 1.0 - 2.0 * rng.integers(v.shape, 0, 2, torch.float32)
        v[:, :2] *= key_dim**0.5
        # Each of these few elements is halfway between two numbers of bfloat16.
        q[:, 0, :, 0] = torch.floor(32.0 * rng.fine((batch, seq))) / 32.0 + 1.0 / 64.0
        k[:, 1, :, 0] = torch.floor(32.0 * rng.fine((batch, seq))) / 32.0 + 1.0 / 64.0
        q[:, 2, :, 0], v[:, 2] = key_dim**0.5, rng.fine(v[:, 2].shape)
        for i in range(batch):
            for h in range(3, heads):
                a, b = rng.swells(seq, key_dim, seq)
                q[i, h], k[i, h] = a, b.T
    return {"q": q.to(case.dtype), "k": k.to(case.dtype), "v": v.to(case.dtype)}


def _retain(
    q: Tensor, k: Tensor, v: Tensor, scale: float, late: int = 0, shift: int = 0, variant: str = ""
) -> Tensor:
    """Computes all pairs of steps, one head at a time. The other parameters are mistakes of
    mutants: `late` is a number of additional steps of decay, `shift` is added to the head's number,
    and `variant` names a mistake in the mask."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    batch, heads, seq, _ = q.shape
    out = torch.empty(v.shape, dtype=wide, device=q.device)
    step = torch.arange(seq, dtype=torch.float64, device=q.device)
    distance = step[:, None] - step[None, :]
    if variant == "symmetric":
        distance = distance.abs()
    for h in range(heads):
        gamma = 1.0 if variant == "no decay" else 1.0 - 2.0 ** (-5 - h - shift)
        decay = torch.where(
            distance >= (1 if variant == "strict" else 0),
            gamma ** (distance.clamp(min=0) + late),
            0.0,
        ).to(wide)
        for i in range(batch):
            scores = q[i, h].to(wide) @ k[i, h].to(wide).T * decay
            if variant == "chunks":
                scores = torch.where(
                    (step // 64)[:, None] == (step // 64)[None, :], scores, torch.zeros_like(scores)
                )
            out[i, h] = scale * (scores @ v[i, h].to(wide))
    return out


def reference(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _retain(q, k, v, q.shape[3] ** -0.5)


def mutants(q: Tensor, k: Tensor, v: Tensor) -> dict[str, Tensor | tuple[Tensor, ...]]:
    scale = q.shape[3] ** -0.5
    return {
        "scale left out": _retain(q, k, v, 1.0),
        "decay left out": _retain(q, k, v, scale, variant="no decay"),
        "one step of decay too many": _retain(q, k, v, scale, late=1),
        "heads counted from one": _retain(q, k, v, scale, shift=1),
        "causal mask left out": _retain(q, k, v, scale, variant="symmetric"),
        "a step does not see itself": _retain(q, k, v, scale, variant="strict"),
        "chunks of 64 without a carried state": _retain(q, k, v, scale, variant="chunks"),
    }


def cost(case: Case) -> Cost:
    batch, heads, seq = case.axes["batch"], case.axes["heads"], case.axes["seq"]
    key_dim, value_dim = case.axes["key_dim"], case.axes["value_dim"]
    steps = batch * heads * seq
    return Cost(
        bytes=steps * (2 * (2 * key_dim + value_dim) + 4 * value_dim),
        flops=5 * steps * key_dim * value_dim,
    )
