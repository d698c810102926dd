"""Each program computes one sequence and keeps the transition matrix in registers for all steps.

A step is a max-plus product of a vector and a matrix, and then a maximum. Each step depends on the
step before it, so latency limits the kernel, not memory traffic. The programs are small (one warp
for up to 32 states), so that an SM can interleave many sequences. The loads of emissions depend on
no earlier step, so they run ahead. A scan over matrices would also work, but it costs `states`
times as many operations."""

import torch
import triton
import triton.language as tl


@triton.jit
def _forward_kernel(
    emit_ptr,
    trans_ptr,
    stay_ptr,
    init_ptr,
    final_ptr,
    state_ptr,
    steps,
    states,
    BLOCK: tl.constexpr,
):
    sequence = tl.program_id(0)
    source = tl.arange(0, BLOCK)[:, None]
    target = tl.arange(0, BLOCK)[None, :]
    inside = (source < states) & (target < states)
    moves = tl.load(trans_ptr + source * states + target, mask=inside, other=-float("inf"))
    stay = tl.load(stay_ptr + target, mask=target < states, other=0.0)
    moves = tl.where((source == target) & inside, -stay, moves)

    lane = tl.arange(0, BLOCK)
    mask = lane < states
    emit_row = emit_ptr + sequence.to(tl.int64) * steps * states + lane
    state_row = state_ptr + sequence.to(tl.int64) * steps
    # States past the end start with a score of -inf and keep it, because no transition leads to
    # them.
    score = tl.load(init_ptr + lane, mask=mask, other=-float("inf"))
    score += tl.load(emit_row, mask=mask, other=0.0)
    for step in range(1, steps):
        emit_row += states
        emit = tl.load(emit_row, mask=mask, other=0.0)
        best, state = tl.max(score, axis=0, return_indices=True, return_indices_tie_break_left=True)
        tl.store(state_row + step - 1, state)
        # Subtracts the previous step's best score from `emit`, not from `score`. The scores are the
        # same, because `best` is one number for all states. In this form the maximum over `score +
        # moves` does not wait for `best`.
        score = tl.max(score[:, None] + moves, axis=0) + (emit - best)
    best, state = tl.max(score, axis=0, return_indices=True, return_indices_tie_break_left=True)
    tl.store(state_row + steps - 1, state)
    tl.store(final_ptr + sequence.to(tl.int64) * states + lane, score - best, mask=mask)


def hmm_viterbi_duration(
    emit: torch.Tensor, trans: torch.Tensor, stay: torch.Tensor, init: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    batch, steps, states = emit.shape
    final = torch.empty((batch, states), dtype=torch.float32, device=emit.device)
    state = torch.empty((batch, steps), dtype=torch.int32, device=emit.device)
    block = max(4, triton.next_power_of_2(states))
    warps = 1 if block <= 32 else 4 if block == 64 else 8
    _forward_kernel[(batch,)](
        emit, trans, stay, init, final, state, steps, states, BLOCK=block, num_warps=warps
    )
    return final, state
