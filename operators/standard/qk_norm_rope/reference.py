"""Unpacks qkv, computes the RMS norm of q and k per head, and rotates them."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """In the distribution `tiny`, the mean squares are about as large as eps. In `spikes`, one
    entry of a head, in either half, is far larger than the others."""
    tokens, half, packed = case.axes["tokens"], case.axes["half"], case.axes["packed"]
    qkv = rng.normal((tokens, packed), torch.float32)
    if case.distribution == "tiny":
        qkv *= 0.001 * torch.exp2(rng.uniform((tokens, 1), torch.float32, -1.0, 3.0))
    elif case.distribution == "scaled":
        qkv *= torch.exp2(rng.uniform((tokens, 1), torch.float32, -5.0, 7.0))
    elif case.distribution == "spikes":
        qkv *= 1.0 + 3.0 * (rng.uniform((tokens, packed), torch.float32, 0.0, 1.0) < 0.02)
    # Outputs stay below 0.5, so that the rounding error of bfloat16 is well below the tolerance.
    q_weight = 0.06 * rng.uniform((2 * half,), torch.float32, 0.6, 1.2)
    k_weight = 0.06 * rng.uniform((2 * half,), torch.float32, 0.6, 1.2)
    if case.distribution == "fine":
        # The normalised values are 1 and -1, and the weights are larger, so a rounding of a weight,
        # of cos or of sin to bfloat16 shows.
        qkv = qkv.sign()
        q_weight, k_weight = (rng.fine((2 * half,)) / 16.0 for _ in "qk")
    position = torch.arange(tokens, dtype=torch.float32, device=rng.device)
    frequency = torch.exp(
        torch.arange(half, dtype=torch.float32, device=rng.device) * (-9.0 / half)
    )
    angle = position[:, None] * frequency[None, :]
    return {
        "qkv": qkv.to(case.dtype),
        "q_weight": q_weight.to(case.dtype),
        "k_weight": k_weight.to(case.dtype),
        "cos": angle.cos(),
        "sin": angle.sin(),
        "q_heads": case.axes["q_heads"],
        "kv_heads": case.axes["kv_heads"],
        "eps": 3e-6 if case.distribution == "tiny" else 1e-6,
    }


def reference(
    qkv: Tensor,
    q_weight: Tensor,
    k_weight: Tensor,
    cos: Tensor,
    sin: Tensor,
    q_heads: int,
    kv_heads: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = _split(qkv, q_heads, kv_heads)
    return (
        _rotate(_norm(q, eps) * q_weight, cos, sin, qkv),
        _rotate(_norm(k, eps) * k_weight, cos, sin, qkv),
        v.clone(),
    )


def _split(qkv: Tensor, q_heads: int, kv_heads: int) -> tuple[Tensor, Tensor, Tensor]:
    heads = qkv.reshape(qkv.shape[0], q_heads + 2 * kv_heads, -1)
    return (
        heads[:, :q_heads],
        heads[:, q_heads : q_heads + kv_heads],
        heads[:, q_heads + kv_heads :],
    )


def _norm(u: Tensor, eps: float) -> Tensor:
    wide = u if u.dtype == torch.float64 else u.float()
    return wide / (wide.square().mean(dim=-1, keepdim=True) + eps).sqrt()


def _rotate(n: Tensor, cos: Tensor, sin: Tensor, like: Tensor) -> Tensor:
    first, second = n.chunk(2, dim=-1)
    c, s = cos[:, None, :], sin[:, None, :]
    return torch.cat([first * c - second * s, second * c + first * s], dim=-1).to(like.dtype)


def mutants(
    qkv: Tensor,
    q_weight: Tensor,
    k_weight: Tensor,
    cos: Tensor,
    sin: Tensor,
    q_heads: int,
    kv_heads: int,
    eps: float,
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    q, k, v = _split(qkv, q_heads, kv_heads)
    pairs = (_norm(q, eps) * q_weight).unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)
    right_k = _rotate(_norm(k, eps) * k_weight, cos, sin, qkv)
    return {
        "eps left out": reference(qkv, q_weight, k_weight, cos, sin, q_heads, kv_heads, 0.0),
        "weights exchanged": reference(qkv, k_weight, q_weight, cos, sin, q_heads, kv_heads, eps),
        "rotated the other way": reference(
            qkv, q_weight, k_weight, cos, -sin, q_heads, kv_heads, eps
        ),
        "interleaved pairs": (_rotate(pairs, cos, sin, qkv), right_k, v),
        "weight applied after the rotation": (
            _rotate(_norm(q, eps), cos, sin, qkv) * q_weight,
            right_k,
            v,
        ),
        "norm over all heads": (
            _rotate(_norm(q.flatten(1), eps).reshape(q.shape) * q_weight, cos, sin, qkv),
            right_k,
            v,
        ),
        "v normalised too": (
            _rotate(_norm(q, eps) * q_weight, cos, sin, qkv),
            right_k,
            _norm(v, eps).to(v.dtype),
        ),
    }


def cost(case: Case) -> Cost:
    tokens, half, packed = case.axes["tokens"], case.axes["half"], case.axes["packed"]
    size = case.dtype.itemsize
    return Cost(
        bytes=2 * tokens * packed * size + 4 * half * size + 8 * tokens * half,
        flops=10 * tokens * packed,
    )
