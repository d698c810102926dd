"""A tuple argument passes any number of tensors without a table of addresses. static_range unrolls the loop (elementwise largest)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _largest_kernel(x_ptrs, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    best = tl.full([BLOCK], -float("inf"), tl.float32)
    for k in tl.static_range(len(x_ptrs)):
        best = tl.maximum(best, tl.load(x_ptrs[k] + at, mask=at < n))
    tl.store(out_ptr + at, best, mask=at < n)


def elementwise_largest(tensors):
    out = torch.empty_like(tensors[0])
    _largest_kernel[(triton.cdiv(out.numel(), 64),)](tuple(tensors), out, out.numel(), BLOCK=64)
    return out


def check():
    tensors = [torch.randn(100) for _ in range(3)]
    assert torch.equal(elementwise_largest(tensors), torch.stack(tensors).amax(0))
