"""Quantises keys and values to int8 per head and scatters them to cache slots."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """Every slot of the caches contains a random value, so a wrong write to a slot that must stay
    unchanged is visible."""
    tokens, slots, heads, dim = (
        case.axes["tokens"],
        case.axes["slots"],
        case.axes["heads"],
        case.axes["dim"],
    )
    k, v = (
        rng.normal((tokens, heads, dim), torch.float32),
        rng.normal((tokens, heads, dim), torch.float32),
    )
    if case.distribution == "spikes":
        k += 20.0 * (rng.uniform((tokens, heads, dim), torch.float32, 0.0, 1.0) < 0.01)
        v += 20.0 * (rng.uniform((tokens, heads, dim), torch.float32, 0.0, 1.0) < 0.01)
    elif case.distribution == "zeros":
        k[1::3] = 0.0
        v[::2, 1:] = 0.0
    slots_of = rng.permutation(slots)[:tokens].to(torch.int32)
    if case.distribution == "padded":
        slots_of[1::4] = -1
        # No token uses the last slot. A kernel that does not skip -1 would write to the last slot,
        # and the error is then visible.
        slots_of = torch.where(slots_of == slots - 1, torch.full_like(slots_of, -1), slots_of)
    return {
        "k": _without_near_ties(k.to(torch.float16)),
        "v": _without_near_ties(v.to(torch.float16)),
        "slots_of": slots_of,
        "k_cache": rng.integers((slots, heads, dim), -127, 128, torch.int8),
        "v_cache": rng.integers((slots, heads, dim), -127, 128, torch.int8),
        "k_scale": rng.uniform((slots, heads), torch.float32, 0.01, 0.05),
        "v_scale": rng.uniform((slots, heads), torch.float32, 0.01, 0.05),
    }


def _scale(x: Tensor, dims: tuple[int, ...] = (-1,)) -> tuple[Tensor, Tensor]:
    """Returns the scales, and the divisors (1 where a scale is 0)."""
    wide = x if x.dtype == torch.float64 else x.float()
    scale = (wide.abs().amax(dim=dims, keepdim=True) / 127.0).expand(*x.shape[:-1], 1)
    return scale[..., 0], torch.where(scale == 0, torch.ones_like(scale), scale)


def _without_near_ties(x: Tensor) -> Tensor:
    """Sets entries to 0 if their quotient is so near a tie that correct implementations could round
    differently. Maxima stay unchanged."""
    quotient = x.float() / _scale(x)[1]
    return torch.where((quotient - quotient.floor() - 0.5).abs() < 2e-3, torch.zeros_like(x), x)


def _stored(
    k: Tensor,
    v: Tensor,
    slots_of: Tensor,
    caches: tuple[Tensor, Tensor, Tensor, Tensor],
    dims: tuple[int, ...] = (-1,),
    truncate: bool = False,
    skip: bool = True,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    written = slots_of >= 0 if skip else torch.ones_like(slots_of, dtype=torch.bool)
    # If `skip` is false, the modulo maps -1 to the last slot. A kernel that does not skip -1 would
    # write to the last slot too.
    target = slots_of[written].long() % caches[0].shape[0]
    values, scales = [], []
    for x, cache, cache_scale in ((k, caches[0], caches[2]), (v, caches[1], caches[3])):
        scale, divisor = _scale(x, dims)
        quotient = x.to(scale.dtype) / divisor
        values.append(
            cache.index_copy(
                0,
                target,
                (torch.trunc(quotient) if truncate else torch.round(quotient)).to(torch.int8)[
                    written
                ],
            )
        )
        scales.append(cache_scale.index_copy(0, target, scale[written].to(cache_scale.dtype)))
    return values[0], values[1], scales[0], scales[1]


def reference(
    k: Tensor,
    v: Tensor,
    slots_of: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    k_scale: Tensor,
    v_scale: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    return _stored(k, v, slots_of, (k_cache, v_cache, k_scale, v_scale))


def mutants(
    k: Tensor,
    v: Tensor,
    slots_of: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    k_scale: Tensor,
    v_scale: Tensor,
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    caches = (k_cache, v_cache, k_scale, v_scale)
    return {
        "one scale for all heads of a token": _stored(k, v, slots_of, caches, dims=(-2, -1)),
        "rounds towards zero": _stored(k, v, slots_of, caches, truncate=True),
        "padding written to the last slot": _stored(k, v, slots_of, caches, skip=False),
        "keys and values exchanged": _stored(v, k, slots_of, caches),
        "slots taken in token order": _stored(
            k, v, torch.arange(slots_of.numel(), device=k.device), caches
        ),
    }


def cost(case: Case) -> Cost:
    """Counts the reads of the tokens that are not padding, and the writes of their slots. An
    implementation need not read padding tokens or slots."""
    tokens, heads, dim = case.axes["tokens"], case.axes["heads"], case.axes["dim"]
    # In a padded case, `inputs` turns every fourth token into padding, and also the token that
    # would use the last slot.
    stored = heads * (tokens - (tokens + 2) // 4 - 1 if case.distribution == "padded" else tokens)
    least = 4 * tokens + stored * (4 * dim + 2 * (dim + 4))
    everything = 4 * tokens + 4 * tokens * heads * dim + 4 * case.axes["slots"] * heads * (dim + 4)
    return Cost(bytes=least, flops=8 * stored * dim, untouched=everything - least)
