"""tl.reduce with a custom combine function reduces a tuple: the largest value and how often it occurs."""

import torch
import triton
import triton.language as tl


@triton.jit
def _merge(a_value, a_count, b_value, b_count):
    count = tl.where(
        a_value == b_value, a_count + b_count, tl.where(a_value > b_value, a_count, b_count)
    )
    return tl.maximum(a_value, b_value), count


@triton.jit
def _max_count_kernel(x_ptr, value_ptr, count_ptr, cols, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * cols + at, mask=at < cols, other=-(2**31))
    value, count = tl.reduce((x, (at < cols).to(tl.int32)), 0, _merge)
    tl.store(value_ptr + row, value)
    tl.store(count_ptr + row, count)


def max_and_count(x):
    value, count = (torch.empty(x.shape[0], dtype=torch.int32, device=x.device) for _ in range(2))
    _max_count_kernel[(x.shape[0],)](
        x, value, count, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1])
    )
    return value, count


def check():
    x = torch.randint(0, 5, (6, 40), dtype=torch.int32)
    value, count = max_and_count(x)
    assert torch.equal(value, x.amax(1)) and torch.equal(
        count.long(), (x == x.amax(1, keepdim=True)).sum(1)
    )
