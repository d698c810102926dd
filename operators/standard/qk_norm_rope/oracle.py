"""Each program computes one token. It loads the token's angles once, and normalises and rotates all
heads in registers, so each byte is moved once.

The two halves of a head are separate tensors in the kernel, so that the rotation needs no shuffle.
The norm of a head adds the sums over both halves."""

import torch
import triton
import triton.language as tl


@triton.jit
def _norm_rotate(
    x_ptr, weight_ptr, out_ptr, heads, half, c, s, eps, HEADS: tl.constexpr, HALF: tl.constexpr
):
    head = tl.arange(0, HEADS)[:, None]
    i = tl.arange(0, HALF)[None, :]
    mask = (head < heads) & (i < half)
    place = head * 2 * half + i
    x = tl.load(x_ptr + place, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(x_ptr + place + half, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x + y * y, axis=1) / (2 * half) + eps)[:, None]
    x = x * rstd * tl.load(weight_ptr + i, mask=i < half, other=0.0).to(tl.float32)
    y = y * rstd * tl.load(weight_ptr + half + i, mask=i < half, other=0.0).to(tl.float32)
    tl.store(out_ptr + place, (x * c - y * s).to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(out_ptr + place + half, (y * c + x * s).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _qkv_kernel(
    qkv_ptr,
    q_weight_ptr,
    k_weight_ptr,
    cos_ptr,
    sin_ptr,
    q_ptr,
    k_ptr,
    v_ptr,
    q_heads,
    kv_heads,
    half,
    eps,
    Q_HEADS: tl.constexpr,
    KV_HEADS: tl.constexpr,
    HALF: tl.constexpr,
    VALUES: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, HALF)[None, :]
    c = tl.load(cos_ptr + token * half + i, mask=i < half, other=0.0)
    s = tl.load(sin_ptr + token * half + i, mask=i < half, other=0.0)
    q_size = q_heads * 2 * half
    kv_size = kv_heads * 2 * half
    row = qkv_ptr + token * (q_size + 2 * kv_size)
    # Loads v first, so that these loads are in flight while the norms of q and k are computed.
    lane = tl.arange(0, VALUES)
    v = tl.load(row + q_size + kv_size + lane, mask=lane < kv_size)
    _norm_rotate(row, q_weight_ptr, q_ptr + token * q_size, q_heads, half, c, s, eps, Q_HEADS, HALF)
    _norm_rotate(
        row + q_size,
        k_weight_ptr,
        k_ptr + token * kv_size,
        kv_heads,
        half,
        c,
        s,
        eps,
        KV_HEADS,
        HALF,
    )
    tl.store(v_ptr + token * kv_size + lane, v, mask=lane < kv_size)


def qk_norm_rope(
    qkv: torch.Tensor,
    q_weight: torch.Tensor,
    k_weight: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    q_heads: int,
    kv_heads: int,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    tokens, half = cos.shape
    q = torch.empty((tokens, q_heads, 2 * half), dtype=qkv.dtype, device=qkv.device)
    k = torch.empty((tokens, kv_heads, 2 * half), dtype=qkv.dtype, device=qkv.device)
    v = torch.empty((tokens, kv_heads, 2 * half), dtype=qkv.dtype, device=qkv.device)
    q_block, kv_block, half_block = (
        triton.next_power_of_2(q_heads),
        triton.next_power_of_2(kv_heads),
        triton.next_power_of_2(half),
    )
    values = triton.next_power_of_2(kv_heads * 2 * half)
    # Each thread has about 16 entries of each half of q.
    warps = 4 if q_block * half_block <= 2048 else 8
    _qkv_kernel[(tokens,)](
        qkv, q_weight, k_weight, cos, sin, q, k, v, q_heads, kv_heads, half, eps,
        Q_HEADS=q_block, KV_HEADS=kv_block, HALF=half_block, VALUES=values, num_warps=warps,
    )  # fmt: skip
    return q, k, v
