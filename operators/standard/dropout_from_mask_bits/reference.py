"""Computes dropout with a given mask of one bit per element."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    n, words = case.axes["n"], case.axes["words"]
    p, bound = 0.3, 2.6
    bits = rng.integers((words,), -(2**31), 2**31, torch.int32)
    if case.distribution == "keep_all":
        p, bound = 0.25, 2.9
        bits = torch.full_like(bits, -1)
    elif case.distribution == "infinite":
        p, bound = 0.2, 2.9
    elif case.distribution == "sparse":
        # One element in eight is kept, so the factor 1 / (1 - p) is 8.
        p, bound = 0.875, 0.48
        bits = (
            bits
            & rng.integers((words,), -(2**31), 2**31, torch.int32)
            & rng.integers((words,), -(2**31), 2**31, torch.int32)
        )
    x = rng.normal((n,), torch.float32).clamp(-bound, bound)
    if case.distribution in ("infinite", "dropped_nan"):
        kept = _bits(bits, n)
        x = torch.where(~kept & (rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.1), float("inf"), x)
        x = torch.where(~kept & (rng.uniform((n,), torch.float32, 0.0, 1.0) < 0.1), float("nan"), x)
    # The last element is always kept and not 0, so an error in it is visible in every case.
    x[n - 1] = 0.4
    bits[(n - 1) // 32] |= -(2**31) if (n - 1) % 32 == 31 else 1 << ((n - 1) % 32)
    return {"x": x.to(torch.float16), "bits": bits, "p": p}


def _bits(bits: Tensor, n: int) -> Tensor:
    lane = torch.arange(32, device=bits.device, dtype=torch.int32)
    return ((bits[:, None] >> lane) & 1).reshape(-1)[:n] != 0


def _dropped(x: Tensor, kept: Tensor, factor: float) -> Tensor:
    wide = x if x.dtype == torch.float64 else x.float()
    return torch.where(kept, wide * factor, torch.zeros_like(wide)).to(x.dtype)


def reference(x: Tensor, bits: Tensor, p: float) -> Tensor:
    return _dropped(x, _bits(bits, x.numel()), 1.0 / (1.0 - p))


def mutants(x: Tensor, bits: Tensor, p: float) -> dict[str, Tensor | tuple[Tensor, ...]]:
    n, factor = x.numel(), 1.0 / (1.0 - p)
    kept = _bits(bits, n)
    lane = torch.arange(31, -1, -1, device=bits.device, dtype=torch.int32)
    high_first = ((bits[:, None] >> lane) & 1).reshape(-1)[:n] != 0
    return {
        "mask inverted": _dropped(x, ~kept, factor),
        "factor left out": _dropped(x, kept, 1.0),
        "factor 1 - p": _dropped(x, kept, 1.0 - p),
        "highest bit first": _dropped(x, high_first, factor),
        "bit of the next element": _dropped(x, torch.roll(kept, -1), factor),
        "dropped by a product with 0": (x.double() * kept * factor).to(x.dtype),
    }


def cost(case: Case) -> Cost:
    return Cost(bytes=4 * case.axes["n"] + 4 * case.axes["words"], flops=case.axes["n"])
