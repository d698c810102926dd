"""The kernel computes the WKV recurrence. Columns of the state do not depend on each other, so each
warp keeps 16 columns in registers and loops over time. The state is a tile with the dimensions
(keys of a thread, threads that share a column, columns). A thread has consecutive keys. So it loads
the vectors r, k and w in wide loads, and most additions of a sum over keys are inside the thread.

All columns need the same exponentials. If every thread computed them, the special function units
would limit the speed. So another kernel first computes each exponential once. The bonus term is v
times the scalar r . (bonus * k), so no second outer product is needed. Loads run several steps
ahead (num_stages)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _decay_kernel(w_ptr, decay_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(decay_ptr + at, tl.exp(tl.load(w_ptr + at, mask=at < n)), mask=at < n)


@triton.jit
def _recurrent_kernel(
    r_ptr,
    k_ptr,
    v_ptr,
    decay_ptr,
    bonus_ptr,
    o_ptr,
    last_ptr,
    seq,
    heads,
    DK: tl.constexpr,
    DV: tl.constexpr,
    BV: tl.constexpr,
    SHARE: tl.constexpr,
    STAGES: tl.constexpr,
):
    head = tl.program_id(1).to(tl.int64)
    OWN: tl.constexpr = DK // SHARE
    keys = tl.arange(0, OWN)[:, None] + OWN * tl.arange(0, SHARE)[None, :]
    values = tl.program_id(0) * BV + tl.arange(0, BV)
    bonus = tl.load(bonus_ptr + (head % heads) * DK + keys)
    state = tl.zeros((OWN, SHARE, BV), tl.float32)
    for t in tl.range(0, seq, num_stages=STAGES):
        step = head * seq + t
        r = tl.load(r_ptr + step * DK + keys)
        k = tl.load(k_ptr + step * DK + keys)
        decay = tl.load(decay_ptr + step * DK + keys)
        v = tl.load(v_ptr + step * DV + values)
        own = tl.sum(tl.sum(r * bonus * k, axis=0), axis=0)
        out = tl.sum(tl.sum(state * r[:, :, None], axis=0), axis=0) + v * own
        tl.store(o_ptr + step * DV + values, out)
        state = state * decay[:, :, None] + k[:, :, None] * v[None, None, :]
    tl.store(last_ptr + (head * DK + keys)[:, :, None] * DV + values[None, None, :], state)


def rwkv6_recurrent(
    r: torch.Tensor, k: torch.Tensor, v: torch.Tensor, w: torch.Tensor, bonus: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    batch, heads, seq, key_dim = r.shape
    value_dim = v.shape[3]
    o = torch.empty_like(v)
    last = torch.empty((batch, heads, key_dim, value_dim), dtype=r.dtype, device=r.device)
    decay = torch.empty_like(w)
    _decay_kernel[(triton.cdiv(w.numel(), 2048),)](w, decay, w.numel(), BLOCK=2048, num_warps=4)
    block = min(16, value_dim)
    _recurrent_kernel[(value_dim // block, batch * heads)](
        r,
        k,
        v,
        decay,
        bonus,
        o,
        last,
        seq,
        heads,
        DK=key_dim,
        DV=value_dim,
        BV=block,
        SHARE=32 // block,
        STAGES=12,
        num_warps=1,
    )
    return o, last
