"""One launch computes the rotary embedding of q and k. Each program processes one token: it loads
the token's angles once and rotates all heads."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rotate(x_ptr, out_ptr, token, heads, half, c, s, HEADS: tl.constexpr, HALF: tl.constexpr):
    head = tl.arange(0, HEADS)[:, None]
    i = tl.arange(0, HALF)[None, :]
    mask = (head < heads) & (i < half)
    first = token * heads * 2 * half + head * 2 * half + i
    x = tl.load(x_ptr + first, mask=mask).to(tl.float32)
    y = tl.load(x_ptr + first + half, mask=mask).to(tl.float32)
    tl.store(out_ptr + first, (x * c - y * s).to(out_ptr.dtype.element_ty), mask=mask)
    tl.store(out_ptr + first + half, (y * c + x * s).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _rope_kernel(
    q_ptr,
    k_ptr,
    cos_ptr,
    sin_ptr,
    q_out_ptr,
    k_out_ptr,
    q_heads,
    kv_heads,
    half,
    Q_HEADS: tl.constexpr,
    KV_HEADS: tl.constexpr,
    HALF: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, HALF)[None, :]
    c = tl.load(cos_ptr + token * half + i, mask=i < half).to(tl.float32)
    s = tl.load(sin_ptr + token * half + i, mask=i < half).to(tl.float32)
    _rotate(q_ptr, q_out_ptr, token, q_heads, half, c, s, Q_HEADS, HALF)
    _rotate(k_ptr, k_out_ptr, token, kv_heads, half, c, s, KV_HEADS, HALF)


def rope_neox(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    q_out, k_out = torch.empty_like(q), torch.empty_like(k)
    tokens, q_heads, dim = q.shape
    kv_heads, half = k.shape[1], dim // 2
    q_block, kv_block, half_block = (
        triton.next_power_of_2(q_heads),
        triton.next_power_of_2(kv_heads),
        triton.next_power_of_2(half),
    )
    _rope_kernel[(tokens,)](
        q,
        k,
        cos,
        sin,
        q_out,
        k_out,
        q_heads,
        kv_heads,
        half,
        Q_HEADS=q_block,
        KV_HEADS=kv_block,
        HALF=half_block,
        num_warps=4,
    )
    return q_out, k_out
