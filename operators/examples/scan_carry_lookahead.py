"""A scan of generate/propagate pairs adds long integers in parallel, so that no digit waits for the digit before it."""

import torch
import triton
import triton.language as tl


@triton.jit
def _carry(a_generate, a_propagate, b_generate, b_propagate):
    return b_generate | (b_propagate & a_generate), a_propagate & b_propagate


@triton.jit
def _long_add_kernel(a_ptr, b_ptr, carry_ptr, out_ptr, digits, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.load(a_ptr + at, mask=at < digits, other=0) + tl.load(
        b_ptr + at, mask=at < digits, other=0
    )
    generate, _ = tl.associative_scan(
        ((total > 9).to(tl.int32), (total == 9).to(tl.int32)), 0, _carry
    )
    # The carry goes to the next higher digit.
    tl.store(carry_ptr + at + 1, generate, mask=at < digits)
    tl.debug_barrier()
    carried = tl.load(carry_ptr + at, mask=at <= digits, other=0)
    tl.store(out_ptr + at, (total + carried) % 10, mask=at <= digits)


def add_digits(a, b):
    """Adds numbers of decimal digits, lowest digit first. The sum has one digit more than the
    operands."""
    carry = torch.zeros(a.numel() + 1, dtype=torch.int32, device=a.device)
    out = torch.empty(a.numel() + 1, dtype=torch.int32, device=a.device)
    _long_add_kernel[(1,)](a, b, carry, out, a.numel(), BLOCK=triton.next_power_of_2(a.numel() + 1))
    return out


def check():
    a = torch.tensor([9, 9, 5, 9, 0, 9], dtype=torch.int32)
    b = torch.tensor([1, 0, 4, 0, 7, 9], dtype=torch.int32)
    assert add_digits(a, b).tolist() == [0, 0, 0, 0, 8, 8, 1]
