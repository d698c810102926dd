"""The poison: what memory contains before kernels run. Memory that no kernel stores to must not look
like a right result. So the poison is NaN as a float of 16, 32 or 64 bits, and as an integer of 16
bits or more it is a number that is nobody's mark for "none", unlike -1 and the largest number.

    fill_poison(memory)                    # `memory` is a flat tensor of bytes
    poison_value(torch.int32)              # -917519.0
    is_poison(words, start)                # true at elements that are still the poison

The launcher fills memory with the same bytes (kPoison in sandbox/launcher/replay/replay.h)."""

from __future__ import annotations

import math

import torch

# Each word of 16 bits is this value, so bytes alternate between LOW_BYTE and HIGH_BYTE.
POISON_WORD = 0xFFF1
LOW_BYTE, HIGH_BYTE = POISON_WORD & 0xFF, POISON_WORD >> 8


def fill_poison(memory: torch.Tensor) -> None:
    """Fills a flat tensor of the dtype uint8."""
    memory.fill_(HIGH_BYTE)
    memory[::2] = LOW_BYTE


def poison_value(dtype: torch.dtype) -> float:
    """Returns the value of an element that nothing was stored to. Of a dtype with one byte for each
    element, this is the value of the elements with an even index."""
    if dtype.is_complex:
        return math.nan
    one = torch.full((8,), HIGH_BYTE, dtype=torch.uint8)
    fill_poison(one)
    if dtype is torch.bool:
        dtype = torch.uint8
    return float(one.view(dtype)[0].double())


def is_poison(words: torch.Tensor, start: int) -> torch.Tensor:
    """Returns which elements of a contiguous tensor are the poison. `words` contains their bits as
    integers, and `start` is the index of its first element in the tensor."""
    one = torch.full((8,), HIGH_BYTE, dtype=torch.uint8)
    fill_poison(one)
    pattern = one.view(words.dtype).to(words.device)
    if words.element_size() > 1:
        return words == pattern[0]
    odd = (torch.arange(words.numel(), device=words.device) + start) % 2 == 1
    return words.reshape(-1) == torch.where(odd, pattern[1], pattern[0])
