"""Unscales the gradients of several tensors and clips them by their global norm."""

from __future__ import annotations

import itertools

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

EPS = 1e-6
# The approximate global norm of the unscaled gradients. It is above most limits on the norm, because
# otherwise a kernel that never clips would pass.
NORM = 1.5


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    total, tensors = case.axes["total"], case.axes["tensors"]
    grads = rng.normal((total,), torch.float32)
    weights = rng.uniform((tensors,), torch.float64, 0.1, 1.0)
    if tensors > 3:
        weights[2::5] = 0.0  # empty tensors
    if case.distribution == "skewed":
        # One tensor has nearly all elements.
        weights[tensors // 2] = 30.0 * tensors
    offsets = torch.zeros((tensors + 1,), dtype=torch.int64, device=rng.device)
    offsets[1:] = (weights.cumsum(0) / weights.sum() * total).round().to(torch.int64)
    offsets[-1] = total
    if case.distribution == "tail":
        grads[: total - total // 16] *= 0.1
    max_norm, inverse_scale = 0.6, 0.125
    if case.distribution == "below":
        max_norm, inverse_scale = 2.25, 0.5
    elif case.distribution == "tail":
        max_norm = 0.1
    grads *= NORM * total**-0.5 / inverse_scale
    return {
        "grads": grads,
        "offsets": offsets.to(torch.int32),
        "inverse_scale": inverse_scale,
        "max_norm": max_norm,
    }


def _norms(grads: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the norm of each tensor and of all tensors, in float64. So a float32 sum of millions
    of squares is compared with an exact value."""
    ends = offsets.tolist()
    squares = torch.stack([grads[a:b].double().square().sum() for a, b in itertools.pairwise(ends)])
    return squares.sqrt().to(grads.dtype), squares.sum().sqrt().reshape(1).to(grads.dtype)


def _coefficient(norm: Tensor, max_norm: float) -> Tensor:
    return (max_norm / (norm + EPS)).clamp_max(1.0)


def reference(
    grads: Tensor, offsets: Tensor, inverse_scale: float, max_norm: float
) -> tuple[Tensor, Tensor, Tensor]:
    g = grads * inverse_scale
    norms, total = _norms(g, offsets)
    return norms, total, g * _coefficient(total, max_norm)


def mutants(
    grads: Tensor, offsets: Tensor, inverse_scale: float, max_norm: float
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    g = grads * inverse_scale
    norms, total = _norms(g, offsets)
    clipped = g * _coefficient(total, max_norm)
    own = torch.repeat_interleave(
        _coefficient(norms, max_norm), (offsets[1:] - offsets[:-1]).long()
    )
    scaled = _norms(grads, offsets)
    return {
        "each tensor by its own norm": (norms, total, g * own),
        "scaled up when below the limit": (norms, total, g * (max_norm / (total + EPS))),
        "norm squared": (
            norms.square(),
            total.square(),
            g * _coefficient(total.square(), max_norm),
        ),
        "sum of norms": (norms, norms.sum().reshape(1), g * _coefficient(norms.sum(), max_norm)),
        "norms after clipping": (*_norms(clipped, offsets), clipped),
        "clipped by value": (norms, total, g.clamp(-max_norm, max_norm)),
        "clipped before unscaling": (norms, total, g * _coefficient(scaled[1], max_norm)),
        "norms of the scaled gradients": (*scaled, clipped),
    }


def cost(case: Case) -> Cost:
    total, tensors = case.axes["total"], case.axes["tensors"]
    return Cost(bytes=8 * total + 4 * (tensors + 1) + 4 * tensors + 4, flops=4 * total)
