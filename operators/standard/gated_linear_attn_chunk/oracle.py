"""Gated linear attention, 64 steps at a time, with the state in registers; heads and blocks of value columns run side by side.

Within a chunk the decay between two steps is a quotient of two running products. Both are taken relative to the middle of the chunk's
decay, so with g >= -1 neither factor passes e^32: too much for float16, but not for TF32, which has float32's range. Decays towards
the chunk's ends are at most 1, and those products run in float16.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _chunk_kernel(q_ptr, k_ptr, v_ptr, g_ptr, o_ptr, seq, scale, C: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr, BV: tl.constexpr):
    head = tl.program_id(1).to(tl.int64) * seq
    steps = tl.arange(0, C)
    keys = tl.arange(0, DK)
    columns = tl.program_id(0) * BV + tl.arange(0, BV)
    causal = steps[:, None] >= steps[None, :]
    state = tl.zeros((DK, BV), tl.float32)
    for first in range(0, seq, C):
        rows = first + steps
        inside = (rows < seq)[:, None]
        at = (head + rows)[:, None] * DK + keys[None, :]
        value_at = (head + rows)[:, None] * DV + columns[None, :]
        g = tl.load(g_ptr + at, mask=inside, other=0.0).to(tl.float32)
        q = tl.load(q_ptr + at, mask=inside, other=0.0).to(tl.float32)
        k = tl.load(k_ptr + at, mask=inside, other=0.0).to(tl.float32)
        v = tl.load(v_ptr + value_at, mask=inside, other=0.0)
        decay = tl.cumsum(g, axis=0)
        total = tl.sum(g, axis=0)
        middle = 0.5 * total[None, :]
        half = tl.exp(middle)
        q *= tl.exp(decay - middle)
        k *= tl.exp(middle - decay)
        scores = tl.dot(q, tl.trans(k), input_precision="tf32")
        scores = tl.where(causal, scores, 0.0)
        out = tl.dot((q * half).to(tl.float16), state.to(tl.float16))
        out = tl.dot(scores.to(tl.float16), v, out)
        tl.store(o_ptr + value_at, out * scale, mask=inside)
        remembered = (k * half).to(tl.float16)
        state = tl.dot(tl.trans(remembered), v, state * tl.exp(total)[:, None])


def gated_linear_attn_chunk(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, scale: float) -> torch.Tensor:
    batch, heads, seq, key_dim = q.shape
    value_dim = v.shape[3]
    o = torch.empty(v.shape, dtype=torch.float32, device=q.device)
    # Narrow blocks of columns repeat the scores, but a chunk waits for the one before: more programs per SM hide that better.
    block = min(32, value_dim)
    _chunk_kernel[(value_dim // block, batch * heads)](
        q, k, v, g, o, seq, scale, C=64, DK=key_dim, DV=value_dim, BV=block, num_warps=8 if key_dim > 64 else 4, num_stages=2
    )
    return o
