"""Computes leaky integrate-and-fire neurons in int32, step by step."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    shape = (case.axes["steps"], case.axes["neurons"])
    x = rng.integers(shape, -600, 1500, torch.int32)
    v0 = rng.integers(shape[1:], -3000, 3000, torch.int32)
    shift, theta = 4, 2500
    if case.distribution == "wrap":
        x = rng.integers(shape, -(2**31), 2**31, torch.int32)
        v0 = rng.integers(shape[1:], -(2**31), 2**31, torch.int32)
        shift, theta = 3, 2**30
    elif case.distribution == "negative":
        # The potential is mostly negative, where the rounding of the shift is visible. Spikes are
        # rare.
        x = rng.integers(shape, -900, 700, torch.int32)
        x[-1, -1] = 60_000  # one spike in the last step
        shift, theta = 5, 900
    elif case.distribution == "long_memory":
        # Half of the potentials stay within 0 .. 15, where the leak rounds to 0, and change rarely.
        step = rng.integers(shape, -1, 2, torch.int32)
        rare = rng.uniform(shape, torch.float32, 0.0, 1.0) < 1.0 / 64
        quiet = torch.arange(shape[1], device=rng.device) % 2 == 0
        x = torch.where(quiet, step * rare, x)
        v0 = torch.where(quiet, rng.integers(shape[1:], 0, 16, torch.int32), v0)
    elif case.distribution == "no_memory":
        # v >> 0 is v, so the leak removes the whole old potential.
        shift, theta = 0, 700
    return {"x": x, "v0": v0, "shift": shift, "theta": theta}


def _run(x: Tensor, v0: Tensor, shift: int, theta: int, how: str = "") -> tuple[Tensor, Tensor]:
    spikes = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    v = v0.clone()
    for t in range(x.shape[0]):
        if how == "leak rounds towards zero":
            v = v + x[t] - torch.div(v.long(), 2**shift, rounding_mode="trunc").int()
        elif how == "leak after the input":
            v = v + x[t]
            v = v - (v >> shift)
        elif how == "logical shift":
            v = v + x[t] - ((v.long() & 0xFFFFFFFF) >> shift).int()
        elif how == "64-bit sums":
            v = (v.long() + x[t].long() - (v >> shift).long()).clamp(-(2**31), 2**31 - 1).int()
        else:
            v = v + x[t] - (v >> shift)
        fired = v > theta if how == "fires above theta only" else v >= theta
        v = torch.where(fired, 0, v) if how == "reset to zero" else v - fired.int() * theta
        spikes[t] = fired.to(torch.int8)
    return spikes, v


def reference(x: Tensor, v0: Tensor, shift: int, theta: int) -> tuple[Tensor, Tensor]:
    return _run(x, v0, shift, theta)


def mutants(
    x: Tensor, v0: Tensor, shift: int, theta: int
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    wrong = (
        "leak rounds towards zero",
        "leak after the input",
        "logical shift",
        "64-bit sums",
        "fires above theta only",
        "reset to zero",
    )
    return {name: _run(x, v0, shift, theta, name) for name in wrong} | {
        "starts at rest": _run(x, torch.zeros_like(v0), shift, theta),
    }


def cost(case: Case) -> Cost:
    steps, neurons = case.axes["steps"], case.axes["neurons"]
    return Cost(bytes=5 * steps * neurons + 8 * neurons, flops=5 * steps * neurons)
