"""A column is broadcast against a row, so loads of 16 and of 32 elements give a tile of 512 results."""

import torch
import triton
import triton.language as tl


@triton.jit
def _outer_kernel(a_ptr, b_ptr, out_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLS + tl.arange(0, COLS)
    a = tl.load(a_ptr + i, mask=i < rows)
    b = tl.load(b_ptr + j, mask=j < cols)
    inside = (i < rows)[:, None] & (j < cols)[None, :]
    tl.store(out_ptr + i[:, None] * cols + j[None, :], a[:, None] - b[None, :], mask=inside)


def outer_difference(a, b):
    out = torch.empty((a.numel(), b.numel()), dtype=a.dtype, device=a.device)
    _outer_kernel[(triton.cdiv(a.numel(), 16), triton.cdiv(b.numel(), 32))](
        a, b, out, a.numel(), b.numel(), ROWS=16, COLS=32
    )
    return out


def check():
    a, b = torch.randn(20), torch.randn(50)
    assert torch.equal(outer_difference(a, b), a[:, None] - b[None, :])
