"""tl.xor_sum combines the words of a row, and shifts fold the result to one bit: the parity of the row's bits."""

import torch
import triton
import triton.language as tl


@triton.jit
def _parity_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * cols + at, mask=at < cols, other=0)
    word = tl.xor_sum(x, axis=0)
    for shift in tl.static_range(4, -1, -1):
        word = word ^ (word >> (1 << shift))
    tl.store(out_ptr + tl.program_id(0), word & 1)


def row_parity(x):
    out = torch.empty(x.shape[0], dtype=torch.int32, device=x.device)
    _parity_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out


def check():
    x = torch.randint(0, 2**31 - 1, (7, 20), dtype=torch.int32)
    assert row_parity(x).tolist() == [sum(bin(v).count("1") for v in row) % 2 for row in x.tolist()]
