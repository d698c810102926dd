"""The kernel computes the delta rule. Rows of the state S do not depend on each other, so each warp
keeps 16 rows in registers and loops over time.

The state is transposed: it is a tile with the dimensions (keys of a thread, threads that share a
row, rows). A thread has consecutive keys. So it loads the vectors k and q in wide loads, and most
additions of a sum over keys are inside the thread. The output of a step is S_old q + error (k . q),
where S_old is the state before the step. So the three sums of a step, S_old q, S_old k and k . q,
are independent, and only S_old k delays the next step. Loads run several steps ahead
(num_stages)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _recurrent_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    beta_ptr,
    o_ptr,
    last_ptr,
    seq,
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
    state = tl.zeros((OWN, SHARE, BV), tl.float32)
    for t in tl.range(0, seq, num_stages=STAGES):
        step = head * seq + t
        k = tl.load(k_ptr + step * DK + keys)
        q = tl.load(q_ptr + step * DK + keys)
        v = tl.load(v_ptr + step * DV + values)
        beta = tl.load(beta_ptr + step)
        error = beta * (v - tl.sum(tl.sum(state * k[:, :, None], axis=0), axis=0))
        seen = tl.sum(tl.sum(state * q[:, :, None], axis=0), axis=0)
        tl.store(o_ptr + step * DV + values, seen + error * tl.sum(tl.sum(k * q, axis=0), axis=0))
        state += k[:, :, None] * error[None, None, :]
    tl.store(last_ptr + (head * DV + values)[None, None, :] * DK + keys[:, :, None], state)


def delta_rule_recurrent(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, beta: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    batch, heads, seq, key_dim = q.shape
    value_dim = v.shape[3]
    o = torch.empty_like(v)
    last = torch.empty((batch, heads, value_dim, key_dim), dtype=q.dtype, device=q.device)
    block = min(16, value_dim)
    _recurrent_kernel[(value_dim // block, batch * heads)](
        q,
        k,
        v,
        beta,
        o,
        last,
        seq,
        DK=key_dim,
        DV=value_dim,
        BV=block,
        SHARE=32 // block,
        STAGES=12,
        num_warps=1,
    )
    return o, last
