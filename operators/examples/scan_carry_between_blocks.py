"""A row is longer than one block. Each block is scanned and combined with the carry, the total of the blocks before it."""

import torch
import triton
import triton.language as tl


@triton.jit
def _and(a, b):
    return a & b


@triton.jit
def _prefix_and_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    carry = tl.full([], -1, tl.int32)  # all bits are 1: no bit is cleared yet
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n, other=-1)
        tl.store(out_ptr + at, tl.associative_scan(x, 0, _and) & carry, mask=at < n)
        carry &= tl.reduce(x, 0, _and)


def prefix_and(x):
    out = torch.empty_like(x)
    _prefix_and_kernel[(1,)](x, out, x.numel(), BLOCK=16)
    return out


def check():
    import itertools
    import operator

    x = -1 - (1 << torch.randint(0, 30, (50,), dtype=torch.int32))
    assert prefix_and(x).tolist() == list(itertools.accumulate(x.tolist(), operator.and_))
