"""Two launches: a copy of all logits at full bandwidth, then the few that a history names.

A token's count is found by comparing it with its whole sequence, a tile of 128 x 128 at a time. Repeats compute and store the same value,
from the logits that are never written, so their order does not matter.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _copy_kernel(logits_ptr, y_ptr, n, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + index, tl.load(logits_ptr + index, mask=index < n), mask=index < n)


@triton.jit
def _penalise_kernel(logits_ptr, history_ptr, offsets_ptr, repetition_ptr, frequency_ptr, presence_ptr, y_ptr, vocab, BLOCK: tl.constexpr):
    sequence = tl.program_id(1)
    start = tl.load(offsets_ptr + sequence)
    end = tl.load(offsets_ptr + sequence + 1)
    mine = start + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if start + tl.program_id(0) * BLOCK < end:
        token = tl.load(history_ptr + mine, mask=mine < end, other=-1)
        count = tl.zeros((BLOCK,), tl.int32)
        for first in range(start, end, BLOCK):
            index = first + tl.arange(0, BLOCK)
            other = tl.load(history_ptr + index, mask=index < end, other=-2)
            count += tl.sum((token[:, None] == other[None, :]).to(tl.int32), axis=1)
        at = sequence.to(tl.int64) * vocab + token
        x = tl.load(logits_ptr + at, mask=mine < end, other=0.0)
        repetition = tl.load(repetition_ptr + sequence)
        x = tl.where(x > 0.0, x / repetition, x * repetition)
        x -= tl.load(frequency_ptr + sequence) * count.to(tl.float32) + tl.load(presence_ptr + sequence)
        tl.store(y_ptr + at, x, mask=mine < end)


def apply_penalties(
    logits: torch.Tensor,
    history: torch.Tensor,
    offsets: torch.Tensor,
    repetition: torch.Tensor,
    frequency: torch.Tensor,
    presence: torch.Tensor,
    max_history: int,
) -> torch.Tensor:
    y = torch.empty_like(logits)
    batch, vocab = logits.shape
    n = batch * vocab
    _copy_kernel[(triton.cdiv(n, 4096),)](logits, y, n, BLOCK=4096, num_warps=8)
    _penalise_kernel[(triton.cdiv(max_history, 128), batch)](
        logits, history, offsets, repetition, frequency, presence, y, vocab, BLOCK=128, num_warps=4
    )
    return y
