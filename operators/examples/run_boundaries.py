"""Each element is compared with the element before it, to find where runs of equal values begin. Edges of blocks are loaded twice."""

import torch
import triton
import triton.language as tl


@triton.jit
def _boundary_kernel(x_ptr, flag_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = tl.load(x_ptr + at, mask=at < n, other=0)
    before = tl.load(x_ptr + at - 1, mask=(at > 0) & (at < n), other=0)
    tl.store(flag_ptr + at, ((at == 0) | (here != before)).to(tl.int8), mask=at < n)


def run_starts(x):
    flags = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    _boundary_kernel[(triton.cdiv(x.numel(), 32),)](x, flags, x.numel(), BLOCK=32)
    return flags


def check():
    x = torch.randint(0, 2, (100,), dtype=torch.int32)
    assert torch.equal(
        run_starts(x), torch.cat([torch.ones(1, dtype=torch.bool), x[1:] != x[:-1]]).to(torch.int8)
    )
