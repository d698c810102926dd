"""Draws the random inputs of imported definitions: as the benchmark draws them, or otherwise.

    x = random_values("normal", [4, 8], torch.float32, SHIFTED, rng)

The kind of values says what an input is for. A benchmark that knows only names and shapes draws,
for example, a mask of zeros and the least number. Hidden cases use the variant `shifted`, so that a
kernel that ignores an input, which the benchmark fills with ones or zeros, gives wrong outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from harness.operator import Rng

# The random integers of the benchmarks: from the first number up to, but not including, the second.
INTEGERS = {torch.int8: (-128, 128)}
OTHER_INTEGERS = (-1024, 1024)
LOW_PRECISION = 2.0  # random 8-bit floats are at most this
# How the values of a case are made. `plain` is what the benchmark does. `shifted` moves random
# floats away from zero, and `shuffled` also changes the order of the floats of a file.
PLAIN, SHIFTED, SHUFFLED = "plain", "shifted", "shuffled"
VARIANTS = (PLAIN, SHIFTED, SHUFFLED)
SHIFT, SPREAD = 1.0, 0.5
OFFSET = 0.1  # the least value of `positive`
MASKED_SHARE = 0.25  # of the elements below the diagonal of a mask, in hidden cases

Shape = Sequence[int]


def random_values(
    kind: str, shape: Shape, dtype: torch.dtype, variant: str, rng: Rng
) -> torch.Tensor:
    """Integers and bools know only one kind. `kind` is a key of KINDS."""
    if dtype is torch.bool:
        return rng.integers(shape, 0, 2).to(dtype)
    if not dtype.is_floating_point:
        return rng.integers(shape, *INTEGERS.get(dtype, OTHER_INTEGERS), dtype)
    if dtype.itemsize == 1:
        drawn = _normal(shape, dtype, variant, rng).clamp(-LOW_PRECISION, LOW_PRECISION)
    else:
        drawn = KINDS[kind](shape, dtype, variant, rng)
    return drawn.to(dtype)


def _normal(shape: Shape, dtype: torch.dtype, variant: str, rng: Rng) -> torch.Tensor:
    drawn = rng.normal(shape)
    return drawn if variant == PLAIN else SPREAD * drawn + SHIFT


def _weight(shape: Shape, dtype: torch.dtype, variant: str, rng: Rng) -> torch.Tensor:
    return _normal(shape, dtype, variant, rng) / math.sqrt(shape[-1])


def _ones(shape: Shape, dtype: torch.dtype, variant: str, rng: Rng) -> torch.Tensor:
    return (
        rng.uniform(shape, low=1.0, high=1.0)
        if variant == PLAIN
        else rng.uniform(shape, low=0.5, high=1.5)
    )


def _zeros(shape: Shape, dtype: torch.dtype, variant: str, rng: Rng) -> torch.Tensor:
    return rng.uniform(shape, low=0.0, high=0.0) if variant == PLAIN else SPREAD * rng.normal(shape)


def _causal_mask(shape: Shape, dtype: torch.dtype, variant: str, rng: Rng) -> torch.Tensor:
    """An addend of attention scores: 0, and above the diagonal the dtype's least number. The variant
    `shifted` also masks some elements below the diagonal, so a kernel must read the mask."""
    least = torch.full(tuple(shape), torch.finfo(dtype).min, device=rng.device)
    mask = least.triu(diagonal=1)
    if variant == PLAIN:
        return mask
    return mask + least.tril(diagonal=-1) * (rng.uniform(shape) < MASKED_SHARE)


def _binary(shape: Shape, dtype: torch.dtype, variant: str, rng: Rng) -> torch.Tensor:
    return rng.integers(shape, 0, 2).to(torch.float32)


def _cosine(shape: Shape, dtype: torch.dtype, variant: str, rng: Rng) -> torch.Tensor:
    return torch.cos(rng.normal(shape).clamp(-math.pi, math.pi))


def _sine(shape: Shape, dtype: torch.dtype, variant: str, rng: Rng) -> torch.Tensor:
    return torch.sin(rng.normal(shape).clamp(-math.pi, math.pi))


def _positive(shape: Shape, dtype: torch.dtype, variant: str, rng: Rng) -> torch.Tensor:
    return _normal(shape, dtype, variant, rng).abs() + OFFSET


def _softmax(shape: Shape, dtype: torch.dtype, variant: str, rng: Rng) -> torch.Tensor:
    scale = 1.0 if variant == PLAIN else 2.0
    return torch.softmax(scale * rng.normal(shape), dim=-1)


def _between(low: float, high: float) -> Callable[..., torch.Tensor]:
    def drawn(shape: Shape, dtype: torch.dtype, variant: str, rng: Rng) -> torch.Tensor:
        return rng.uniform(shape, low=low, high=high)

    return drawn


def _decay_sums(shape: Shape, dtype: torch.dtype, variant: str, rng: Rng) -> torch.Tensor:
    return rng.uniform(shape, low=-0.1, high=0.0).cumsum(-1)


# What an input of floats is for, and how its values are drawn.
KINDS: dict[str, Callable[[Shape, torch.dtype, str, Rng], torch.Tensor]] = {
    "normal": _normal,
    "weight": _weight,  # of a product, so it is divided by the root of its last extent
    "ones": _ones,  # the weight of a normalization
    "zeros": _zeros,  # the bias of a normalization
    "causal_mask": _causal_mask,
    "binary": _binary,
    "cosine": _cosine,  # of a rotary embedding
    "sine": _sine,
    "positive": _positive,  # a standard deviation or its inverse
    "softmax": _softmax,
    "decay": _between(-1.0, -0.001),  # of a state-space model
    "log_decay": _between(-5.0, -1.0),
    "gate": _between(-5.0, 0.0),
    "decay_sums": _decay_sums,
}
