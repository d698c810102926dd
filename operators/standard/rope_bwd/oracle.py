"""One launch computes the backward pass of the rotary embedding for q and k. Each program processes
one token: it loads the token's angles once and rotates all heads back."""

import torch
import triton
import triton.language as tl


@triton.jit
def _turn(dy_ptr, dx_ptr, token, heads, half, c, s, HEADS: tl.constexpr, HALF: tl.constexpr):
    head = tl.arange(0, HEADS)[:, None]
    i = tl.arange(0, HALF)[None, :]
    mask = (head < heads) & (i < half)
    first = (token * heads + head) * 2 * half + i
    x = tl.load(dy_ptr + first, mask=mask)
    y = tl.load(dy_ptr + first + half, mask=mask)
    tl.store(dx_ptr + first, x * c + y * s, mask=mask)
    tl.store(dx_ptr + first + half, y * c - x * s, mask=mask)


@triton.jit
def _rope_kernel(
    dq_out_ptr,
    dk_out_ptr,
    positions_ptr,
    cos_ptr,
    sin_ptr,
    dq_ptr,
    dk_ptr,
    q_heads,
    kv_heads,
    half,
    Q_HEADS: tl.constexpr,
    KV_HEADS: tl.constexpr,
    HALF: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, HALF)[None, :]
    row = tl.load(positions_ptr + token).to(tl.int64) * half
    c = tl.load(cos_ptr + row + i, mask=i < half)
    s = tl.load(sin_ptr + row + i, mask=i < half)
    _turn(dq_out_ptr, dq_ptr, token, q_heads, half, c, s, Q_HEADS, HALF)
    _turn(dk_out_ptr, dk_ptr, token, kv_heads, half, c, s, KV_HEADS, HALF)


def rope_bwd(
    dq_out: torch.Tensor,
    dk_out: torch.Tensor,
    positions: torch.Tensor,
    cos: torch.Tensor,
    sin: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    dq, dk = torch.empty_like(dq_out), torch.empty_like(dk_out)
    tokens, q_heads, dim = dq_out.shape
    kv_heads, half = dk_out.shape[1], dim // 2
    q_block, kv_block, half_block = (
        triton.next_power_of_2(q_heads),
        triton.next_power_of_2(kv_heads),
        triton.next_power_of_2(half),
    )
    _rope_kernel[(tokens,)](
        dq_out,
        dk_out,
        positions,
        cos,
        sin,
        dq,
        dk,
        q_heads,
        kv_heads,
        half,
        Q_HEADS=q_block,
        KV_HEADS=kv_block,
        HALF=half_block,
        num_warps=4,
    )
    return dq, dk
