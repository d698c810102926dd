"""Computes a grouped GEMM over experts with a SwiGLU epilogue."""

from __future__ import annotations

import itertools

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The gate product has a standard deviation of about 0.75, and the up product of about 0.3. So
    even large values of y stay below 4."""
    rows, dim, hidden, experts = (case.axes[name] for name in ("rows", "dim", "hidden", "experts"))
    lengths = _lengths(rng, rows, experts, case.distribution == "skewed")
    offsets = torch.zeros((experts + 1,), dtype=torch.int64, device=rng.device)
    offsets[1:] = lengths.cumsum(0)
    x = rng.normal((rows, dim), torch.float32)
    if case.distribution == "tail":
        x[:, : dim - dim // 8] *= 0.1
        x[:, dim - dim // 8 :] *= 2.0
    scale = dim**-0.25
    if case.distribution in ("picks", "swell"):
        # `picks`: each element of a product is one element of x or of a weight, so a rounding to
        # bfloat16 shows. `swell`: accumulators need more bits than float16 has.
        draw = rng.picks if case.distribution == "picks" else rng.swells
        x = draw(rows, dim, hidden)[0]
        gate, up = (torch.stack([draw(rows, dim, hidden)[1] for _ in range(experts)]) for _ in "gu")
        return {
            "x": x.to(case.dtype),
            "offsets": offsets.to(torch.int32),
            "w_gate": gate.to(case.dtype),
            "w_up": (0.125 * up).to(case.dtype),
        }
    w_gate = (0.75 * scale * rng.normal((experts, dim, hidden), torch.float32)).to(case.dtype)
    w_up = (0.3 * scale * rng.normal((experts, dim, hidden), torch.float32)).to(case.dtype)
    return {
        "x": (scale * x).to(case.dtype),
        "offsets": offsets.to(torch.int32),
        "w_gate": w_gate,
        "w_up": w_up,
    }


def _lengths(rng: Rng, total: int, segments: int, skewed: bool) -> Tensor:
    """Returns lengths that add up to `total`. Every fifth segment is empty. If `skewed` is set, the
    middle segment has about two thirds of the total."""
    weights = rng.uniform((segments,), torch.float64, 0.5, 1.0)
    weights[3:-1:5] = 0.0
    if skewed:
        weights[segments // 2] = 2.0 * weights.sum()
    # Rounds the cumulative sums instead of the lengths, so that the lengths add up to `total`. The
    # last segment is empty only if there are more segments than elements.
    ends = (weights.cumsum(0) / weights.sum() * total).round().to(torch.int64).clamp(max=total)
    ends[-1] = total
    lengths = ends.clone()
    lengths[1:] -= ends[:-1]
    return lengths


def _products(x: Tensor, offsets: Tensor, w: Tensor) -> Tensor:
    """Multiplies every row by its expert's matrix, one expert at a time, in at least float32."""
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    out = torch.zeros((x.shape[0], w.shape[2]), dtype=wide, device=x.device)
    ends = offsets.tolist()
    for expert, (first, end) in enumerate(itertools.pairwise(ends)):
        if first < end:
            out[first:end] = x[first:end].to(wide) @ w[expert].to(wide)
    return out


def reference(x: Tensor, offsets: Tensor, w_gate: Tensor, w_up: Tensor) -> Tensor:
    gate = _products(x, offsets, w_gate)
    return (gate * torch.sigmoid(gate) * _products(x, offsets, w_up)).to(x.dtype)


def mutants(
    x: Tensor, offsets: Tensor, w_gate: Tensor, w_up: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    gate, up = _products(x, offsets, w_gate), _products(x, offsets, w_up)
    late = torch.cat([offsets[:1], (offsets[1:-1] + 1).clamp(max=x.shape[0]), offsets[-1:]])
    shifted_gate, shifted_up = _products(x, late, w_gate), _products(x, late, w_up)
    return {
        "gate and up exchanged": (up * torch.sigmoid(up) * gate).to(x.dtype),
        "sigmoid instead of silu": (torch.sigmoid(gate) * up).to(x.dtype),
        "up left out": (gate * torch.sigmoid(gate)).to(x.dtype),
        "an expert takes the next one's first row": (
            shifted_gate * torch.sigmoid(shifted_gate) * shifted_up
        ).to(x.dtype),
        "first expert for all rows": reference(
            x, torch.where(offsets > 0, x.shape[0], offsets), w_gate, w_up
        ),
    }


def cost(case: Case) -> Cost:
    rows, dim, hidden, experts = (case.axes[name] for name in ("rows", "dim", "hidden", "experts"))
    return Cost(
        bytes=2 * (rows * dim + 2 * experts * dim * hidden + rows * hidden) + 4 * (experts + 1),
        flops=4 * rows * dim * hidden,
    )
