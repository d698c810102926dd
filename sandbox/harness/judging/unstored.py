"""Finds elements that look right although no kernel has stored them.

    got = with_unstored_wrong(right, got)   # only if memory had the poison before the kernels ran

The poison (harness/wire/poison.py) is NaN as a float of 16 bits or more, and torch reads each of its
bytes as the bool True. So an output that no kernel stored to would be right wherever the right value
is NaN or True. But its bits are not those of a NaN that arithmetic yields, nor those of a bool."""

from __future__ import annotations

import torch

from harness.wire.poison import HIGH_BYTE, is_poison
from harness.wire.tensors import bits

LEAST_BYTES = 2  # a float of one byte has too few NaNs to tell one from another


def with_unstored_wrong(right: torch.Tensor, got: torch.Tensor) -> torch.Tensor:
    """Returns `got`, with a wrong value in each element that is still the poison although its right
    value is NaN or True. Both have the same dtype and shape. Returns `got` itself if there is none."""
    if right.dtype is torch.bool:
        unstored = _unstored_bools(got) & right.reshape(-1)
        wrong = torch.zeros_like(got)
    elif right.is_floating_point() and right.element_size() >= LEAST_BYTES:
        expected = right.isnan().reshape(-1)
        if not bool(expected.any()):
            return got
        unstored = is_poison(bits(got), 0) & expected
        wrong = torch.zeros_like(got)
    else:
        return got
    if not bool(unstored.any()):
        return got
    return torch.where(unstored.reshape(got.shape), wrong, got)


def _unstored_bools(got: torch.Tensor) -> torch.Tensor:
    """A kernel may store the byte 0xFF for True, which the poison's bytes at odd indices are too. It
    does if a byte at an even index is 0xFF, and no byte is 1: no kernel needs two bytes for True."""
    words = bits(got)
    stores_ones = bool((words[::2] == HIGH_BYTE).any()) and not bool((words == 1).any())
    poison = is_poison(words, 0)
    return poison & (words != HIGH_BYTE) if stores_ones else poison
