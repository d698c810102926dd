"""Bits over GF(2): XOR whole words along k and take the parity once, at the end.

parity(x) xor parity(y) = parity(x xor y), so no population count is needed inside the loop: acc ^= a & b is a single three-input logic
instruction for 32 terms. The rest is a register-tiled product. A small kernel transposes a first: a thread's BM words are contiguous
then, arrive in 16-byte loads that a whole warp shares, and need one address. The copy is padded in both directions, with zeros along
k, so that the main loop has no masks.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _transpose_kernel(a_ptr, out_ptr, m, k, width, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows < m)[:, None] & (depth < k)[None, :]
    a = tl.load(a_ptr + rows.to(tl.int64)[:, None] * k + depth[None, :], mask=mask, other=0)
    tl.store(out_ptr + depth.to(tl.int64)[:, None] * width + rows[None, :], tl.trans(a), mask=(rows < width)[None, :])


@triton.jit
def _gf2_kernel(at_ptr, b_ptr, c_ptr, m, n, k, width, BM: tl.constexpr, BN: tl.constexpr, UNROLL: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    a_row = at_ptr + rows
    b_row = b_ptr + tl.minimum(columns, n - 1)  # past the end stands the last column again; what it gives is not stored
    acc = tl.zeros((BM, BN), tl.int32)
    for first in range(0, k, UNROLL):
        for step in tl.static_range(UNROLL):
            b = tl.load(b_row + tl.minimum(first + step, k - 1).to(tl.int64) * n)
            acc ^= tl.load(a_row + step * width)[:, None] & b[None, :]
        a_row += UNROLL * width
    acc ^= acc >> 16
    acc ^= acc >> 8
    acc ^= acc >> 4
    acc ^= acc >> 2
    acc ^= acc >> 1
    bits = tl.reshape(acc & 1, (BM, BN // 32, 32)) << tl.arange(0, 32)[None, None, :]
    words = tl.program_id(1) * (BN // 32) + tl.arange(0, BN // 32)
    out = c_ptr + rows.to(tl.int64)[:, None] * (n // 32) + words[None, :]
    tl.store(out, tl.sum(bits, axis=2), mask=(rows < m)[:, None] & (words < n // 32)[None, :])


def gf2_packed_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n // 32), dtype=torch.int32, device=a.device)
    bm, bn, warps = (32, 512, 4) if m * n >= 4096 * 4096 else (16, 256, 4) if m * n >= 1024 * 1024 else (8, 64, 2)
    block = 64
    width = triton.cdiv(m, 32) * 32
    depth = triton.cdiv(k, block) * block
    at = torch.empty((depth, width), dtype=torch.int32, device=a.device)
    _transpose_kernel[(triton.cdiv(width, block), depth // block)](a, at, m, k, width, BLOCK=block, num_warps=4)
    _gf2_kernel[(triton.cdiv(m, bm), triton.cdiv(n, bn))](at, b, c, m, n, k, width, BM=bm, BN=bn, UNROLL=2, num_warps=warps)
    return c
