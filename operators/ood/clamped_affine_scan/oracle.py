"""The kernel computes the recurrence as an associative scan. This is possible because maps of the
form h -> clip(a h + b, lo, hi) with a >= 0 are closed under composition:

clip(a2 clip(a1 h + b1, lo1, hi1) + b2, lo2, hi2)
= clip(a1 a2 h + (a2 b1 + b2), clip(a2 lo1 + b2, lo2, hi2), clip(a2 hi1 + b2, lo2, hi2))

Each program computes one row, one block at a time. It scans the block's maps, applies them to the
state from the previous block, and passes the last state to the next block."""

import torch
import triton
import triton.language as tl


@triton.jit
def _then(a1, b1, lo1, hi1, a2, b2, lo2, hi2):
    lo = tl.minimum(tl.maximum(a2 * lo1 + b2, lo2), hi2)
    hi = tl.minimum(tl.maximum(a2 * hi1 + b2, lo2), hi2)
    return a1 * a2, a2 * b1 + b2, lo, hi


@triton.jit
def _scan_kernel(a_ptr, b_ptr, lo_ptr, hi_ptr, h0_ptr, h_ptr, steps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start = row.to(tl.int64) * steps
    lane = tl.arange(0, BLOCK)
    h = tl.load(h0_ptr + row)
    for first in range(0, steps, BLOCK):
        mask = first + lane < steps
        at = start + first + lane
        # Lanes past the end contain the identity map, so the last lane always contains the state
        # for the next block.
        a = tl.load(a_ptr + at, mask=mask, other=1.0)
        b = tl.load(b_ptr + at, mask=mask, other=0.0)
        lo = tl.load(lo_ptr + at, mask=mask, other=-float("inf"))
        hi = tl.load(hi_ptr + at, mask=mask, other=float("inf"))
        a, b, lo, hi = tl.associative_scan((a, b, lo, hi), 0, _then)
        states = tl.minimum(tl.maximum(a * h + b, lo), hi)
        tl.store(h_ptr + at, states, mask=mask)
        h = tl.sum(tl.where(lane == BLOCK - 1, states, 0.0), axis=0)


def clamped_affine_scan(
    a: torch.Tensor, b: torch.Tensor, lo: torch.Tensor, hi: torch.Tensor, h0: torch.Tensor
) -> torch.Tensor:
    h = torch.empty_like(a)
    rows, steps = a.shape
    block = min(512, max(32, triton.next_power_of_2(steps)))
    _scan_kernel[(rows,)](
        a, b, lo, hi, h0, h, steps, BLOCK=block, num_warps=4 if block > 128 else 1
    )
    return h
