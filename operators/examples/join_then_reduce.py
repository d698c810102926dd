"""tl.join stacks two blocks along a new last axis, over which any reduction can run (the larger of two scores, and which one it is)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _duel_kernel(a_ptr, b_ptr, score_ptr, winner_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    both = tl.join(tl.load(a_ptr + at, mask=at < n), tl.load(b_ptr + at, mask=at < n))
    score, winner = tl.max(both, axis=1, return_indices=True)
    tl.store(score_ptr + at, score, mask=at < n)
    tl.store(winner_ptr + at, winner.to(tl.int8), mask=at < n)


def duel(a, b):
    score, winner = torch.empty_like(a), torch.empty(a.shape, dtype=torch.int8, device=a.device)
    _duel_kernel[(triton.cdiv(a.numel(), 64),)](a, b, score, winner, a.numel(), BLOCK=64)
    return score, winner


def check():
    a, b = torch.randn(2, 100)
    score, winner = duel(a, b)
    assert torch.equal(score, torch.maximum(a, b)) and torch.equal(winner, (b > a).to(torch.int8))
