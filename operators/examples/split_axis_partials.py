"""A second grid dimension splits a long axis. Each slice stores a partial row, and a second kernel adds them (nonzeros per column)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _slice_kernel(x_ptr, partial_ptr, rows, cols, per_slice, BLOCK: tl.constexpr):
    col = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    first = tl.program_id(1) * per_slice
    count = tl.zeros([BLOCK], tl.int32)
    for row in range(first, tl.minimum(first + per_slice, rows)):
        count += (tl.load(x_ptr + row * cols + col, mask=col < cols, other=0) != 0).to(tl.int32)
    tl.store(partial_ptr + tl.program_id(1) * cols + col, count, mask=col < cols)


@triton.jit
def _join_kernel(partial_ptr, out_ptr, slices, cols, BLOCK: tl.constexpr):
    col = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    count = tl.zeros([BLOCK], tl.int32)
    for part in range(slices):
        count += tl.load(partial_ptr + part * cols + col, mask=col < cols, other=0)
    tl.store(out_ptr + col, count, mask=col < cols)


def nonzero_per_column(x, slices=4):
    rows, cols = x.shape
    partial = torch.empty((slices, cols), dtype=torch.int32, device=x.device)
    out = torch.empty(cols, dtype=torch.int32, device=x.device)
    _slice_kernel[(triton.cdiv(cols, 32), slices)](
        x, partial, rows, cols, triton.cdiv(rows, slices), BLOCK=32
    )
    _join_kernel[(triton.cdiv(cols, 32),)](partial, out, slices, cols, BLOCK=32)
    return out


def check():
    x = torch.randint(0, 3, (21, 40))
    assert torch.equal(nonzero_per_column(x).long(), (x != 0).sum(0))
