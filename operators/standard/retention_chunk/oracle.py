"""The kernel computes retention in chunks of 64 steps, with the state in registers. Within a chunk,
it computes a score for each pair of steps. The state combines all steps before the chunk.

Heads and blocks of value columns are computed in parallel. The decay between steps of a chunk is
the same for all chunks, so its table is computed once."""

import torch
import triton
import triton.language as tl

LOG2_E: tl.constexpr = tl.constexpr(1.4426950408889634)


@triton.jit
def _chunk_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    seq,
    heads,
    scale,
    C: tl.constexpr,
    DK: tl.constexpr,
    DV: tl.constexpr,
    BV: tl.constexpr,
):
    program = tl.program_id(1)
    head = program.to(tl.int64) * seq
    # Computes log2(1 - x), the logarithm of the head's decay, as a series. x is at most 1/32, so
    # rounding 1 - x to float32 before the logarithm would lose precision.
    x = tl.exp2(-5.0 - (program % heads).to(tl.float32))
    rate = (
        -LOG2_E * x * (1.0 + x * (1.0 / 2.0 + x * (1.0 / 3.0 + x * (1.0 / 4.0 + x * (1.0 / 5.0)))))
    )
    steps = tl.arange(0, C)
    keys = tl.arange(0, DK)
    columns = tl.program_id(0) * BV + tl.arange(0, BV)
    distance = steps[:, None] - steps[None, :]
    decay = tl.where(distance >= 0, tl.exp2(rate * distance.to(tl.float32)), 0.0)
    since = tl.exp2(rate * (steps + 1).to(tl.float32))[:, None]
    until = tl.exp2(rate * (C - 1 - steps).to(tl.float32))[:, None]
    whole = tl.exp2(rate * C)
    state = tl.zeros((DK, BV), tl.float32)
    for first in range(0, seq, C):
        rows = first + steps
        inside = (rows < seq)[:, None]
        at = (head + rows)[:, None] * DK + keys[None, :]
        value_at = (head + rows)[:, None] * DV + columns[None, :]
        q = tl.load(q_ptr + at, mask=inside, other=0.0)
        k = tl.load(k_ptr + at, mask=inside, other=0.0)
        v = tl.load(v_ptr + value_at, mask=inside, other=0.0)
        scores = tl.dot(q, tl.trans(k)) * decay
        out = tl.dot(q, state.to(tl.float16)) * since
        out = tl.dot(scores.to(tl.float16), v, out)
        tl.store(o_ptr + value_at, out * scale, mask=inside)
        remembered = (k.to(tl.float32) * until).to(tl.float16)
        state = tl.dot(tl.trans(remembered), v, state * whole)


def retention_chunk(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    batch, heads, seq, key_dim = q.shape
    value_dim = v.shape[3]
    o = torch.empty(v.shape, dtype=torch.float32, device=q.device)
    # Each program computes up to 64 value columns of a head. With fewer columns per program, more
    # programs would read q and k and compute the same scores.
    block = min(64, value_dim)
    _chunk_kernel[(value_dim // block, batch * heads)](
        q,
        k,
        v,
        o,
        seq,
        heads,
        key_dim**-0.5,
        C=64,
        DK=key_dim,
        DV=value_dim,
        BV=block,
        num_warps=4,
        num_stages=3,
    )
    return o
