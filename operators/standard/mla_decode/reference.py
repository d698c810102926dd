"""Computes latent-attention decoding."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

VALUES = 512


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The scores have a standard deviation of about 3, so that each query attends to few keys.
    Otherwise the outputs would average to nearly 0."""
    batch, heads, capacity = case.axes["batch"], case.axes["heads"], case.axes["capacity"]
    scale = 192**-0.5
    q = 3.0 * rng.normal((batch, heads, 576), torch.float32)
    cache = rng.uniform((batch, capacity, 576), torch.float32, -1.0, 1.0)
    lengths = rng.integers((batch,), max(1, capacity // 3), capacity + 1, torch.int32)
    if case.distribution in ("full", "far_keys"):
        lengths = torch.full_like(lengths, capacity)
    if case.distribution == "far_keys":
        # A few keys at random positions outweigh all others. Only the rotary part changes, because
        # the other numbers of a token are its values too.
        strong = rng.uniform((batch, capacity), torch.float32, 0.0, 1.0) < 4.0 / capacity
        boost = 24.0 * strong * (192 / 64) ** 0.5
        lifted, rotary = rng.far_keys(
            q[..., VALUES:], cache[..., VALUES:], boost, 96.0 * (192 / 64) ** 0.5
        )
        q = torch.cat([q[..., :VALUES], lifted], dim=-1)
        cache = torch.cat([cache[..., :VALUES], rotary], dim=-1)
    elif case.distribution == "fine":
        # Each query has about equal scores for the first two tokens. The score of the first one is
        # 96 times an element of q. bfloat16 rounds this element, and float16 the product, so either
        # rounding shifts the weights.
        own = torch.arange(heads, device=q.device)
        q, cache[..., VALUES:] = torch.zeros_like(q), 0.0
        q[:, own, VALUES + own] = rng.fine((batch, heads), high=4.25).abs()
        q[..., -1] = 1.0
        cache[:, 0, VALUES : VALUES + heads] = 96.0
        cache[:, 1, -1] = 96.0 * 4.125
        cache[:, :2, :VALUES] = rng.fine((batch, 2, VALUES))
    elif case.distribution == "spikes":
        cache *= 1.0 + 1.0 * (rng.uniform((batch, capacity, 1), torch.float32, 0.0, 1.0) < 0.03)
        lengths[0] = max(3, capacity // 64)
        scale = 0.06
    return {
        "q": q.to(case.dtype),
        "cache": cache.to(case.dtype),
        "lengths": lengths,
        "scale": scale,
    }


def reference(q: Tensor, cache: Tensor, lengths: Tensor, scale: float) -> Tensor:
    return _attend(q, cache, lengths.tolist(), scale, 576, 0)


def _attend(
    q: Tensor, cache: Tensor, lengths: list[int], scale: float, keys: int, values: int
) -> Tensor:
    """Computes one sequence at a time. A token of the cache is one vector of numbers: the scores
    use its first `keys` numbers, and the values start at index `values`."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    out = torch.empty((*q.shape[:2], VALUES), dtype=wide, device=q.device)
    for b, length in enumerate(lengths):
        tokens = cache[b, :length].to(wide)
        p = torch.softmax((q[b, :, :keys].to(wide) @ tokens[:, :keys].T) * scale, dim=-1)
        out[b] = p @ tokens[:, values : values + VALUES]
    return out


def mutants(
    q: Tensor, cache: Tensor, lengths: Tensor, scale: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    right, capacity = lengths.tolist(), cache.shape[1]
    return {
        "rotary part left out": _attend(q, cache, right, scale, VALUES, 0),
        "values from the last 512": _attend(q, cache, right, scale, 576, 64),
        "scale 1 / sqrt(576)": _attend(q, cache, right, 576**-0.5, 576, 0),
        "lengths ignored": _attend(q, cache, [capacity] * len(right), scale, 576, 0),
        "last key left out": _attend(q, cache, [max(1, n - 1) for n in right], scale, 576, 0),
    }


def cost(case: Case) -> Cost:
    """Returns the cost for sequences of full length, because the lengths are not known here."""
    batch, heads, capacity = case.axes["batch"], case.axes["heads"], case.axes["capacity"]
    traffic = batch * ((heads + capacity) * 576 * case.dtype.itemsize + heads * VALUES * 4 + 4)
    return Cost(bytes=traffic, flops=2 * batch * heads * capacity * (576 + VALUES))
