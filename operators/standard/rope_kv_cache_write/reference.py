"""Rotates new keys and writes them, with their values, to a paged cache."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

BASE = 10000.0


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Every slot of the caches contains a random value, so a wrong write to a slot that must stay
    unchanged is visible."""
    tokens, heads, half = case.axes["tokens"], case.axes["heads"], case.axes["half_dim"]
    blocks, size = case.axes["blocks"], case.axes["block_size"]
    positions = rng.integers((tokens,), 0, 32768, torch.int64)
    frequencies = BASE ** (-torch.arange(half, device=rng.device).double() / half)
    angles = positions.double()[:, None] * frequencies[None, :]
    k, v = (rng.normal((tokens, heads, 2 * half), torch.float32).clamp(-5.0, 5.0) for _ in "kv")
    caches = [
        rng.normal((blocks, heads, size, 2 * half), torch.float32).clamp(-5.0, 5.0) for _ in "kv"
    ]
    if case.distribution == "fine":
        # Even tokens are not turned, so a rounding of k to bfloat16 shows. In the pairs of odd
        # tokens one element is 7 and the other is 0, so a rounding of cos or sin shows.
        angles = rng.uniform(angles.shape, torch.float64, 0.55, 1.0)
        angles[::2] = 0.0
        k, v = rng.fine(k.shape), rng.fine(v.shape)
        k[1::2, :, :half], k[1::2, :, half:] = 7.0, 0.0
        caches = [rng.fine(cache.shape) for cache in caches]
    slots_of = rng.permutation(blocks * size)[:tokens].to(torch.int32)
    if case.distribution == "padded":
        slots_of[1::4] = -1
        # No token uses the last slot. A kernel that does not skip -1 would write to the last slot,
        # and the error is then visible.
        slots_of = torch.where(
            slots_of == blocks * size - 1, torch.full_like(slots_of, -1), slots_of
        )
    return {
        "k": k.to(torch.float16),
        "v": v.to(torch.float16),
        "cos": angles.cos().to(torch.float16),
        "sin": angles.sin().to(torch.float16),
        "slots_of": slots_of,
        "k_cache": caches[0].to(torch.float16),
        "v_cache": caches[1].to(torch.float16),
    }


def _rotated(k: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    wide = torch.float64 if k.dtype == torch.float64 else torch.float32
    first, second = k.to(wide).chunk(2, dim=-1)
    c, s = cos.to(wide)[:, None, :], sin.to(wide)[:, None, :]
    return torch.cat((first * c - second * s, second * c + first * s), dim=-1).to(k.dtype)


def _written(cache: Tensor, x: Tensor, slots_of: Tensor, skip: bool = True) -> Tensor:
    kept = slots_of >= 0 if skip else torch.ones_like(slots_of, dtype=torch.bool)
    blocks, heads, size, dim = cache.shape
    # Converts the cache from blocks to slots, writes the slots, and converts the cache back. If
    # `skip` is false, the modulo maps -1 to the last slot. A kernel that does not skip -1 would
    # write to the last slot too.
    by_slot = cache.transpose(1, 2).reshape(blocks * size, heads, dim)
    by_slot = by_slot.index_copy(0, slots_of[kept].long() % (blocks * size), x[kept])
    return by_slot.reshape(blocks, size, heads, dim).transpose(1, 2).contiguous()


def reference(
    k: Tensor,
    v: Tensor,
    cos: Tensor,
    sin: Tensor,
    slots_of: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
) -> tuple[Tensor, Tensor]:
    return _written(k_cache, _rotated(k, cos, sin), slots_of), _written(v_cache, v, slots_of)


def mutants(
    k: Tensor,
    v: Tensor,
    cos: Tensor,
    sin: Tensor,
    slots_of: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    turned = _rotated(k, cos, sin)
    blocks, heads, size, dim = k_cache.shape
    flat = (blocks, size, heads, dim)

    def head_last(cache: Tensor, x: Tensor) -> Tensor:
        """Writes to the cache as if its layout were (blocks, block_size, heads, dim)."""
        return (
            _written(cache.reshape(flat).transpose(1, 2), x, slots_of)
            .transpose(1, 2)
            .reshape(cache.shape)
        )

    return {
        "keys not rotated": (_written(k_cache, k, slots_of), _written(v_cache, v, slots_of)),
        "values rotated too": (
            _written(k_cache, turned, slots_of),
            _written(v_cache, _rotated(v, cos, sin), slots_of),
        ),
        "turned backwards": (
            _written(k_cache, _rotated(k, cos, -sin), slots_of),
            _written(v_cache, v, slots_of),
        ),
        "padding written to the last slot": (
            _written(k_cache, turned, slots_of, False),
            _written(v_cache, v, slots_of, False),
        ),
        "place in the block before the head": (head_last(k_cache, turned), head_last(v_cache, v)),
    }


def cost(case: Case) -> Cost:
    """Counts the reads of the tokens that are not padding, and the writes of their slots. An
    implementation need not read padding tokens or slots."""
    tokens, heads, half = case.axes["tokens"], case.axes["heads"], case.axes["half_dim"]
    # In a padded case, `inputs` turns every fourth token into padding, and also the token that would
    # use the last slot.
    stored = tokens - (tokens + 2) // 4 - 1 if case.distribution == "padded" else tokens
    least = 4 * tokens + 2 * stored * (4 * heads * 2 * half + 2 * half)
    cached = case.axes["blocks"] * heads * case.axes["block_size"] * 2 * half
    everything = 4 * tokens + 2 * (2 * tokens * heads * 2 * half + 2 * tokens * half + 4 * cached)
    return Cost(bytes=least, flops=3 * stored * heads * 2 * half, untouched=everything - least)
