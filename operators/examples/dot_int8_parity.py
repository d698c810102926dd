"""tl.dot on int8 accumulates in int32. It counts the set bits that two 0/1 codes share, and the kernel stores the parity of the count."""

import torch
import triton
import triton.language as tl


@triton.jit
def _parity_kernel(a_ptr, b_ptr, out_ptr, LENGTH: tl.constexpr, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    j = tl.program_id(1) * TILE + tl.arange(0, TILE)
    k = tl.arange(0, LENGTH)
    a = tl.load(a_ptr + i[:, None] * LENGTH + k[None, :])
    b = tl.load(b_ptr + j[None, :] * LENGTH + k[:, None])
    shared = tl.dot(a, b, out_dtype=tl.int32)
    tl.store(
        out_ptr + i[:, None] * (tl.num_programs(1) * TILE) + j[None, :], (shared & 1).to(tl.int8)
    )


def parity_table(a, b):
    """a and b contain one code per row. Their numbers of rows must be multiples of 32, and the
    length of a code must be a power of two of at least 32."""
    out = torch.empty((a.shape[0], b.shape[0]), dtype=torch.int8, device=a.device)
    _parity_kernel[(a.shape[0] // 32, b.shape[0] // 32)](a, b, out, LENGTH=a.shape[1], TILE=32)
    return out


def check():
    a, b = (
        torch.randint(0, 2, (32, 64), dtype=torch.int8),
        torch.randint(0, 2, (64, 64), dtype=torch.int8),
    )
    assert torch.equal(parity_table(a, b).int(), (a.int() @ b.int().T) % 2)
