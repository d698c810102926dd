"""The length of a loop depends on the data. The loop runs while any lane is active, and finished lanes keep their value."""

import torch
import triton
import triton.language as tl


@triton.jit
def _collatz_kernel(start_ptr, steps_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(start_ptr + at, mask=at < n, other=1)
    steps = tl.zeros([BLOCK], tl.int32)
    while tl.max((value > 1).to(tl.int32), axis=0) == 1:
        active = value > 1
        following = tl.where(value % 2 == 0, value // 2, 3 * value + 1)
        value = tl.where(active, following, value)
        steps += active.to(tl.int32)
    tl.store(steps_ptr + at, steps, mask=at < n)


def collatz_steps(start):
    steps = torch.empty(start.numel(), dtype=torch.int32, device=start.device)
    _collatz_kernel[(triton.cdiv(start.numel(), 32),)](start, steps, start.numel(), BLOCK=32)
    return steps


def check():
    assert collatz_steps(torch.tensor([1, 2, 3, 6, 7, 27])).tolist() == [0, 1, 7, 8, 16, 111]
