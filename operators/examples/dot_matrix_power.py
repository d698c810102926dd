"""A matrix stays in registers for repeated tl.dot. Squaring computes A^(2^k), which counts walks in a graph of 16 nodes."""

import torch
import triton
import triton.language as tl


@triton.jit
def _power_kernel(a_ptr, out_ptr, SQUARINGS: tl.constexpr):
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    graph = tl.program_id(0) * 256
    power = tl.load(a_ptr + graph + at)
    for _ in tl.static_range(SQUARINGS):
        power = tl.dot(power, power, input_precision="ieee")
    tl.store(out_ptr + graph + at, power)


def power_by_squaring(a, squarings):
    out = torch.empty_like(a)
    _power_kernel[(a.shape[0],)](a, out, SQUARINGS=squarings)
    return out


def check():
    a = torch.randint(0, 2, (3, 16, 16)).float()
    assert torch.equal(power_by_squaring(a, 2), torch.linalg.matrix_power(a, 4))
