"""Computes a rotary embedding with three position axes, one for each section of the head."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

BASE = 10000.0


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The positions are those of an image's tokens: time grows slowly, and height and width cover a
    grid."""
    tokens, half = case.axes["tokens"], case.axes["half_dim"]
    shapes = ((tokens, case.axes["q_heads"], 2 * half), (tokens, case.axes["kv_heads"], 2 * half))
    q, k = (rng.uniform(shape, torch.float32, -0.7, 0.7) for shape in shapes)
    if case.distribution == "wide":
        # A rounding of these values to bfloat16 is above the tolerance.
        q, k = 8.0 * q, 8.0 * k
    elif case.distribution == "tail":
        q[: tokens - tokens // 8] *= 0.1
        k[: tokens - tokens // 8] *= 0.1
    start = rng.integers((3,), 1, 64, torch.int64)
    token = torch.arange(tokens, device=rng.device)
    positions = torch.stack((token // 7, 3 * token // 5 % 31, token % 37)) + start[:, None]
    if case.distribution == "shuffled":
        positions = rng.integers((3, tokens), 0, 4096, torch.int64)
    # The base is small, so that the angles of neighbouring tokens differ in every element of a
    # head.
    frequencies = BASE ** (-torch.arange(half, device=rng.device).double() / (2 * half))
    angles = positions.double()[:, :, None] * frequencies
    return {
        "q": q.to(case.dtype),
        "k": k.to(case.dtype),
        "cos": angles.cos().to(case.dtype),
        "sin": angles.sin().to(case.dtype),
        "section_t": case.axes["section_t"],
        "section_h": case.axes["section_h"],
    }


def _axes(half: int, section_t: int, section_h: int, device: torch.device) -> Tensor:
    i = torch.arange(half, device=device)
    return (i >= section_t).long() + (i >= section_t + section_h).long()


def _rotated(
    q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, axis: Tensor, element: Tensor
) -> tuple[Tensor, Tensor]:
    """Rotates the i-th pair of elements by the angle of position axis axis[i] at index
    element[i]."""
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    c, s = (
        cos.to(wide)[axis, :, element].T[:, None, :],
        sin.to(wide)[axis, :, element].T[:, None, :],
    )
    rotated = []
    for x in (q, k):
        first, second = x.to(wide).chunk(2, dim=-1)
        rotated.append(
            torch.cat((first * c - second * s, second * c + first * s), dim=-1).to(x.dtype)
        )
    return rotated[0], rotated[1]


def reference(
    q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, section_t: int, section_h: int
) -> tuple[Tensor, Tensor]:
    half = cos.shape[2]
    return _rotated(
        q,
        k,
        cos,
        sin,
        _axes(half, section_t, section_h, q.device),
        torch.arange(half, device=q.device),
    )


def mutants(
    q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, section_t: int, section_h: int
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    half = cos.shape[2]
    i = torch.arange(half, device=q.device)
    axis = _axes(half, section_t, section_h, q.device)
    restarted = i - torch.where(
        axis == 0, 0, torch.where(axis == 1, section_t, section_t + section_h)
    )
    exchanged = _axes(half, section_t, half - section_t - section_h, q.device)
    return {
        "time for all": _rotated(q, k, cos, sin, torch.zeros_like(axis), i),
        "axes in turn": _rotated(q, k, cos, sin, i % 3, i),
        "sections start again at 0": _rotated(q, k, cos, sin, axis, restarted),
        "height and width exchanged": _rotated(
            q, k, cos, sin, torch.where(exchanged == 0, 0, 3 - exchanged), i
        ),
        "turned backwards": _rotated(q, k, cos, -sin, axis, i),
    }


def cost(case: Case) -> Cost:
    tokens, half = case.axes["tokens"], case.axes["half_dim"]
    elements = tokens * (case.axes["q_heads"] + case.axes["kv_heads"]) * 2 * half
    return Cost(bytes=(2 * elements + 6 * tokens * half) * case.dtype.itemsize, flops=3 * elements)
