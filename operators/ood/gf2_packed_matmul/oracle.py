"""Large and small products use different kernels.

Large products: tensor cores multiply bits stored as int8. The int32 sums are exact, and the last
bit of a sum is its parity. Each int8 contains one bit from each of two rows of A: the lower row's
bit is bit 0, and the upper row's bit is bit 7. A sum of 64 products fits in seven bits, so the
lower row's sum does not overflow into bit 7. XOR combines the sums of the blocks of k. Bits 0 and 7
of the result are then the parities for the two rows.

Small products: the kernel XORs whole words along k and computes the parity once, at the end. This
is possible because parity(x) xor parity(y) = parity(x xor y), so the loop needs no population
count. acc ^= a & b is one three-input logic instruction for 32 terms. The rest is a register-tiled
product. Another small kernel first transposes a, so that the BM words of a thread are contiguous. A
thread then needs only one address for these words. All threads of a warp load the same words, with
16-byte loads. The copy of a is padded in both directions, with zeros along k, so the main loop
needs no masks."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _transpose_kernel(a_ptr, out_ptr, m, k, width, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows < m)[:, None] & (depth < k)[None, :]
    a = tl.load(a_ptr + rows.to(tl.int64)[:, None] * k + depth[None, :], mask=mask, other=0)
    tl.store(
        out_ptr + depth.to(tl.int64)[:, None] * width + rows[None, :],
        tl.trans(a),
        mask=(rows < width)[None, :],
    )


@triton.jit
def _gf2_kernel(
    at_ptr, b_ptr, c_ptr, m, n, k, width, BM: tl.constexpr, BN: tl.constexpr, UNROLL: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    a_row = at_ptr + rows
    # Lanes past the end load the last column again. The results of these lanes are not stored.
    b_row = b_ptr + tl.minimum(columns, n - 1)
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


@triton.jit
def _four(words):
    """Expands each 32-bit word to 8 words along a new last axis. Each byte of the new words is one
    bit, 0 or 1."""
    nibbles = (words[:, :, None] >> (4 * tl.arange(0, 8))[None, None, :]) & 15
    # Moves bit i of a nibble to bit 8 * i: the multiplication shifts by 0, 7, 14 and 21 at once.
    return (nibbles * 0x00204081) & 0x01010101


@triton.jit
def _unpack_a_kernel(
    a_ptr, out_ptr, m, half, k, ROWS: tl.constexpr, WORDS: tl.constexpr, PAIR: tl.constexpr
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    words = tl.program_id(1) * WORDS + tl.arange(0, WORDS)
    mask = (rows < half)[:, None] & (words < k)[None, :]
    at = rows.to(tl.int64)[:, None] * k + words[None, :]
    bits = _four(tl.load(a_ptr + at, mask=mask, other=0))
    if PAIR:
        other = (rows + half).to(tl.int64)[:, None] * k + words[None, :]
        bits |= _four(tl.load(a_ptr + other, mask=mask & (rows + half < m)[:, None], other=0)) << 7
    tl.store(
        out_ptr + at[:, :, None] * 8 + tl.arange(0, 8)[None, None, :], bits, mask=mask[:, :, None]
    )


@triton.jit
def _unpack_b_kernel(b_ptr, out_ptr, n, k, COLS: tl.constexpr, WORDS: tl.constexpr):
    # Stores b transposed, because tensor cores need k contiguous in both int8 operands.
    columns = tl.program_id(0) * COLS + tl.arange(0, COLS)
    words = tl.program_id(1) * WORDS + tl.arange(0, WORDS)
    b = tl.load(
        b_ptr + words.to(tl.int64)[:, None] * n + columns[None, :],
        mask=(words < k)[:, None] & (columns < n)[None, :],
        other=0,
    )
    at = (columns.to(tl.int64)[:, None] * k + words[None, :])[:, :, None] * 8 + tl.arange(0, 8)[
        None, None, :
    ]
    tl.store(
        out_ptr + at,
        _four(tl.trans(b)),
        mask=((columns < n)[:, None] & (words < k)[None, :])[:, :, None],
    )


@triton.jit
def _store_bits(c_ptr, bits, rows, left, rows_end, words_end, BM: tl.constexpr, BN: tl.constexpr):
    """Stores one bit for each entry. Each stored word contains 32 columns."""
    packed = tl.sum(tl.reshape(bits, (BM, BN // 32, 32)) << tl.arange(0, 32)[None, None, :], axis=2)
    words = left // 32 + tl.arange(0, BN // 32)
    tl.store(
        c_ptr + rows.to(tl.int64)[:, None] * words_end + words[None, :],
        packed,
        mask=(rows < rows_end)[:, None] & (words < words_end)[None, :],
    )


@triton.jit
def _tensor_kernel(
    a_desc,
    b_desc,
    c_ptr,
    m,
    half,
    n,
    k,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
):
    # Each program computes two neighbouring tiles. It loads the rows of A once for both tiles. In
    # each step, the first product is added to its sum before the second product is computed.
    tiles_m = tl.cdiv(half, BM)
    tiles_n = tl.cdiv(n, 2 * BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    top = (group * GROUP + (program % (GROUP * tiles_n)) % height) * BM
    left = (program % (GROUP * tiles_n)) // height * (2 * BN)
    acc0 = tl.zeros((BM, BN), tl.int32)
    acc1 = tl.zeros((BM, BN), tl.int32)
    for first in range(0, k, BK):
        a = a_desc.load([top, first])
        b0 = b_desc.load([left, first])
        b1 = b_desc.load([left + BN, first])
        acc0 ^= tl.dot(a, b0.T, out_dtype=tl.int32)
        acc1 ^= tl.dot(a, b1.T, out_dtype=tl.int32)
    rows = top + tl.arange(0, BM)
    _store_bits(c_ptr, acc0 & 1, rows, left, half, n // 32, BM, BN)
    _store_bits(c_ptr, (acc0 >> 7) & 1, rows + half, left, m, n // 32, BM, BN)
    _store_bits(c_ptr, acc1 & 1, rows, left + BN, half, n // 32, BM, BN)
    _store_bits(c_ptr, (acc1 >> 7) & 1, rows + half, left + BN, m, n // 32, BM, BN)


def _is_amd() -> bool:
    """Returns True on AMD GPUs. Two tiles of 128 x 128 need more registers than 8 waves have."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def gf2_packed_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n // 32), dtype=torch.int32, device=a.device)
    if m * n >= 2048 * 2048:
        half = triton.cdiv(m, 2)
        a_bytes = torch.empty((half, 32 * k), dtype=torch.int8, device=a.device)
        b_bytes = torch.empty((n, 32 * k), dtype=torch.int8, device=a.device)
        words = triton.cdiv(k, 16)
        _unpack_a_kernel[(triton.cdiv(half, 32), words)](
            a, a_bytes.view(torch.int32), m, half, k, ROWS=32, WORDS=16, PAIR=True, num_warps=4
        )
        _unpack_b_kernel[(triton.cdiv(n, 32), words)](
            b, b_bytes.view(torch.int32), n, k, COLS=32, WORDS=16, num_warps=4
        )
        bm, bn, bk = 64 if _is_amd() else 128, 128, 64
        grid = (triton.cdiv(half, bm) * triton.cdiv(n, 2 * bn),)
        a_desc = TensorDescriptor.from_tensor(a_bytes, [bm, bk])
        b_desc = TensorDescriptor.from_tensor(b_bytes, [bn, bk])
        _tensor_kernel[grid](
            a_desc,
            b_desc,
            c,
            m,
            half,
            n,
            32 * k,
            BM=bm,
            BN=bn,
            BK=bk,
            GROUP=8,
            num_warps=8,
            num_stages=6,
        )
        return c
    bm, bn, warps = (16, 256, 4) if m * n >= 1024 * 1024 else (8, 64, 2)
    block = 64
    width = triton.cdiv(m, 32) * 32
    depth = triton.cdiv(k, block) * block
    at = torch.empty((depth, width), dtype=torch.int32, device=a.device)
    _transpose_kernel[(triton.cdiv(width, block), depth // block)](
        a, at, m, k, width, BLOCK=block, num_warps=4
    )
    _gf2_kernel[(triton.cdiv(m, bm), triton.cdiv(n, bn))](
        at, b, c, m, n, k, width, BM=bm, BN=bn, UNROLL=2, num_warps=warps
    )
    return c
