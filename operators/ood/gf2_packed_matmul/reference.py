"""Computes the product over GF(2) of matrices whose bits are packed into words."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    m, n, k_words = case.axes["m"], 32 * case.axes["n_words"], case.axes["k_words"]
    return {"a": _words(case, rng, (m, k_words)), "b": _words(case, rng, (k_words, n))}


def _words(case: Case, rng: Rng, shape: tuple[int, int]) -> Tensor:
    """Returns random words. In the distribution `sparse` one bit in eight is 1, in `dense` seven
    bits in eight."""

    def draw() -> Tensor:
        return rng.integers(shape, -(2**31), 2**31, torch.int32)

    if case.distribution == "sparse":
        return draw() & draw() & draw()
    if case.distribution == "dense":
        return draw() | draw() | draw()
    return draw()


def _unpack(words: Tensor, dim: int) -> Tensor:
    """Returns the bits as float32. Each word becomes 32 entries along `dim`."""
    bits = torch.stack([(words >> t) & 1 for t in range(32)], dim=dim + 1)
    return bits.flatten(dim, dim + 1).float()


def _pack(bits: Tensor, backwards: bool = False) -> Tensor:
    columns = bits.to(torch.int32).unflatten(1, (-1, 32))
    words = torch.zeros(columns.shape[:2], dtype=torch.int32, device=bits.device)
    for t in range(32):
        words |= columns[:, :, 31 - t if backwards else t] << t
    return words


def _counts(a: Tensor, b: Tensor) -> Tensor:
    """Returns, for each entry (i, j) of the product, the number of indices l at which A[i, l] and
    B[l, j] are both 1. A and B are the unpacked bits of a and b. The counts are exact in float32,
    because none reaches 2^24."""
    total = torch.zeros((a.shape[0], b.shape[1]), dtype=torch.float32, device=a.device)
    for first in range(0, a.shape[1], 32):
        total += _unpack(a[:, first : first + 32], 1) @ _unpack(b[first : first + 32], 0)
    return total


def reference(a: Tensor, b: Tensor) -> Tensor:
    return _pack(_counts(a, b).to(torch.int32) & 1)


def mutants(a: Tensor, b: Tensor) -> dict[str, Tensor]:
    counts = _counts(a, b).to(torch.int32)
    return {
        "OR instead of XOR": _pack(counts > 0),
        "bits of the result in reverse order": _pack(counts & 1, backwards=True),
        "sign bit of the operands lost": reference(a & 0x7FFFFFFF, b),
        "last word of k left out": reference(a[:, :-1], b[:-1]),
        "majority": _pack(counts > 16 * a.shape[1] // 2),
    }


def cost(case: Case) -> Cost:
    m, n_words, k_words = case.axes["m"], case.axes["n_words"], case.axes["k_words"]
    return Cost(
        bytes=4 * (m * k_words + 32 * k_words * n_words + m * n_words),
        flops=2 * m * 32 * n_words * k_words,
    )
