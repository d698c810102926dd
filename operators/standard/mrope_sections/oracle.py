"""Each program rotates one token. The index of an element within its half of a head determines its
position axis (time, height or width). cos and sin contain one table for each axis. The program
loads cos and sin once for all heads of q and k."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rotate(x_ptr, out_ptr, token, heads, half, c, s, HEADS: tl.constexpr, HALF: tl.constexpr):
    head = tl.arange(0, HEADS)[:, None]
    i = tl.arange(0, HALF)[None, :]
    mask = (head < heads) & (i < half)
    first = (token * heads + head) * 2 * half + i
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
    tokens,
    q_heads,
    kv_heads,
    half,
    section_t,
    section_h,
    Q_HEADS: tl.constexpr,
    KV_HEADS: tl.constexpr,
    HALF: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, HALF)[None, :]
    axis = (i >= section_t).to(tl.int64) + (i >= section_t + section_h).to(tl.int64)
    at = (axis * tokens + token) * half + i
    c = tl.load(cos_ptr + at, mask=i < half).to(tl.float32)
    s = tl.load(sin_ptr + at, mask=i < half).to(tl.float32)
    _rotate(q_ptr, q_out_ptr, token, q_heads, half, c, s, Q_HEADS, HALF)
    _rotate(k_ptr, k_out_ptr, token, kv_heads, half, c, s, KV_HEADS, HALF)


def mrope_sections(
    q: torch.Tensor,
    k: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
    section_t: int,
    section_h: int,
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
        tokens,
        q_heads,
        kv_heads,
        half,
        section_t,
        section_h,
        Q_HEADS=q_block,
        KV_HEADS=kv_block,
        HALF=half_block,
        num_warps=4,
    )
    return q_out, k_out
