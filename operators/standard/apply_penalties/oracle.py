"""Each program copies a slice of a row's logits, and then corrects the logits of the tokens that
occur in the history. There is one launch.

Counting needs no table. After the copy, every occurrence of a token adds 1 to the bits of the
copied logit, as an integer. So the count is the difference between these bits and the bits of the
original logit. All occurrences of a token store the same result, so their order does not matter.
Barriers between the steps are enough, because no other program accesses the slice. A history of up
to MOST_IN_REGISTERS tokens stays in registers. A longer history is read in rounds. Its counts are
in memory until all are known."""

import torch
import triton
import triton.language as tl

SLICE = 16384
WARPS = 16
MOST_IN_REGISTERS = 4096


@triton.jit
def _penalised(x, count, repetition, frequency, presence):
    return tl.where(x > 0.0, x / repetition, x * repetition) - (
        frequency * count.to(tl.float32) + presence
    )


@triton.jit
def _slice_kernel(
    logits_ptr,
    history_ptr,
    offsets_ptr,
    repetition_ptr,
    frequency_ptr,
    presence_ptr,
    y_ptr,
    bits_ptr,
    counts_ptr,
    vocab,
    ONE_ROUND: tl.constexpr,
    BLOCK: tl.constexpr,
    TOKENS: tl.constexpr,
):
    slices = tl.cdiv(vocab, BLOCK)
    sequence = tl.program_id(0) // slices
    low = tl.program_id(0) % slices * BLOCK
    base = sequence.to(tl.int64) * vocab
    column = low + tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + base + column, mask=column < vocab)
    start = tl.load(offsets_ptr + sequence)
    end = tl.load(offsets_ptr + sequence + 1)
    repetition = tl.load(repetition_ptr + sequence)
    frequency = tl.load(frequency_ptr + sequence)
    presence = tl.load(presence_ptr + sequence)
    lane = tl.arange(0, TOKENS)
    if ONE_ROUND:
        token = tl.load(history_ptr + start + lane, mask=start + lane < end, other=-1)
        mine = (token >= low) & (token < low + BLOCK)
        before = tl.load(logits_ptr + base + token, mask=mine, other=0.0)
        tl.store(y_ptr + base + column, x, mask=column < vocab)
        tl.debug_barrier()
        tl.atomic_add(bits_ptr + base + token, 1, mask=mine, sem="relaxed")
        tl.debug_barrier()
        count = tl.load(bits_ptr + base + token, mask=mine, other=0, volatile=True) - before.to(
            tl.int32, bitcast=True
        )
        tl.debug_barrier()
        tl.store(
            y_ptr + base + token,
            _penalised(before, count, repetition, frequency, presence),
            mask=mine,
        )
    else:
        tl.store(y_ptr + base + column, x, mask=column < vocab)
        tl.debug_barrier()
        for first in range(start, end, TOKENS):
            token = tl.load(history_ptr + first + lane, mask=first + lane < end, other=-1)
            mine = (token >= low) & (token < low + BLOCK)
            tl.atomic_add(bits_ptr + base + token, 1, mask=mine, sem="relaxed")
        tl.debug_barrier()
        for first in range(start, end, TOKENS):
            token = tl.load(history_ptr + first + lane, mask=first + lane < end, other=-1)
            mine = (token >= low) & (token < low + BLOCK)
            before = tl.load(logits_ptr + base + token, mask=mine, other=0.0)
            count = tl.load(bits_ptr + base + token, mask=mine, other=0, volatile=True) - before.to(
                tl.int32, bitcast=True
            )
            tl.store(counts_ptr + first + lane, count, mask=mine)
        tl.debug_barrier()
        for first in range(start, end, TOKENS):
            token = tl.load(history_ptr + first + lane, mask=first + lane < end, other=-1)
            mine = (token >= low) & (token < low + BLOCK)
            before = tl.load(logits_ptr + base + token, mask=mine, other=0.0)
            count = tl.load(counts_ptr + first + lane, mask=mine, other=0, volatile=True)
            tl.store(
                y_ptr + base + token,
                _penalised(before, count, repetition, frequency, presence),
                mask=mine,
            )


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
    counts = torch.empty_like(history)
    batch, vocab = logits.shape
    one_round = max_history <= MOST_IN_REGISTERS
    _slice_kernel[(batch * triton.cdiv(vocab, SLICE),)](
        logits,
        history,
        offsets,
        repetition,
        frequency,
        presence,
        y,
        y.view(torch.int32),
        counts,
        vocab,
        ONE_ROUND=one_round,
        BLOCK=SLICE,
        TOKENS=max(256, triton.next_power_of_2(max_history)) if one_round else 1024,
        num_warps=WARPS,
    )
    return y
