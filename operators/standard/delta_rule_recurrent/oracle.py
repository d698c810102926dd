"""Delta rule: rows of the state do not depend on each other, so one warp owns eight of them and walks through time with them in registers.

The state is held transposed, keys by values: lanes lie along values first, so most of a sum over keys is inside a thread. A step's output
is S_old q + error (k . q), so its three sums are independent, and only one of them, S_old k, is on the path to the next step. Loads
run several steps ahead (num_stages).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _recurrent_kernel(
    q_ptr, k_ptr, v_ptr, beta_ptr, o_ptr, last_ptr, seq, DK: tl.constexpr, DV: tl.constexpr, BV: tl.constexpr, STAGES: tl.constexpr
):
    head = tl.program_id(1).to(tl.int64)
    keys = tl.arange(0, DK)
    values = tl.program_id(0) * BV + tl.arange(0, BV)
    state = tl.zeros((DK, BV), tl.float32)
    for t in tl.range(0, seq, num_stages=STAGES):
        step = head * seq + t
        k = tl.load(k_ptr + step * DK + keys)
        q = tl.load(q_ptr + step * DK + keys)
        v = tl.load(v_ptr + step * DV + values)
        beta = tl.load(beta_ptr + step)
        error = beta * (v - tl.sum(state * k[:, None], axis=0))
        tl.store(o_ptr + step * DV + values, tl.sum(state * q[:, None], axis=0) + error * tl.sum(k * q, axis=0))
        state += k[:, None] * error[None, :]
    tl.store(last_ptr + (head * DV + values)[None, :] * DK + keys[:, None], state)


def delta_rule_recurrent(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, beta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    batch, heads, seq, key_dim = q.shape
    value_dim = v.shape[3]
    o = torch.empty_like(v)
    last = torch.empty((batch, heads, value_dim, key_dim), dtype=q.dtype, device=q.device)
    block = 8
    _recurrent_kernel[(value_dim // block, batch * heads)](
        q, k, v, beta, o, last, seq, DK=key_dim, DV=value_dim, BV=block, STAGES=4, num_warps=1
    )
    return o, last
