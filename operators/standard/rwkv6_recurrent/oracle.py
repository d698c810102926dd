"""WKV recurrence: columns of the state do not depend on each other, so one warp owns eight of them and walks through time with them in
registers. Lanes lie along columns first, so most of a sum over keys is inside a thread.

The bonus term is v times a scalar, r . (bonus * k), so no second outer product is formed. Loads run several steps ahead (num_stages).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _recurrent_kernel(
    r_ptr,
    k_ptr,
    v_ptr,
    w_ptr,
    bonus_ptr,
    o_ptr,
    last_ptr,
    seq,
    heads,
    DK: tl.constexpr,
    DV: tl.constexpr,
    BV: tl.constexpr,
    STAGES: tl.constexpr,
):
    head = tl.program_id(1).to(tl.int64)
    keys = tl.arange(0, DK)
    values = tl.program_id(0) * BV + tl.arange(0, BV)
    bonus = tl.load(bonus_ptr + (head % heads) * DK + keys)
    state = tl.zeros((DK, BV), tl.float32)
    for t in tl.range(0, seq, num_stages=STAGES):
        step = head * seq + t
        r = tl.load(r_ptr + step * DK + keys)
        k = tl.load(k_ptr + step * DK + keys)
        w = tl.load(w_ptr + step * DK + keys)
        v = tl.load(v_ptr + step * DV + values)
        out = tl.sum(state * r[:, None], axis=0) + v * tl.sum(r * bonus * k, axis=0)
        tl.store(o_ptr + step * DV + values, out)
        state = state * tl.exp(w)[:, None] + k[:, None] * v[None, :]
    tl.store(last_ptr + (head * DK + keys)[:, None] * DV + values[None, :], state)


def rwkv6_recurrent(
    r: torch.Tensor, k: torch.Tensor, v: torch.Tensor, w: torch.Tensor, bonus: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    batch, heads, seq, key_dim = r.shape
    value_dim = v.shape[3]
    o = torch.empty_like(v)
    last = torch.empty((batch, heads, key_dim, value_dim), dtype=r.dtype, device=r.device)
    block = 8
    _recurrent_kernel[(value_dim // block, batch * heads)](
        r, k, v, w, bonus, o, last, seq, heads, DK=key_dim, DV=value_dim, BV=block, STAGES=4, num_warps=1
    )
    return o, last
