"""The kernels compute gated linear attention in chunks of 64 steps, with the state in registers.
Heads, segments of the sequence and blocks of value columns are computed in parallel.

Within a chunk the decay between two steps is a quotient of two running products of the gates. The
kernel divides both running products by the running product at the middle of the chunk. So for
g >= -1 neither factor exceeds e^32. Numbers of this size are too large for float16, but not for
TF32, which has the range of float32. Decays from or to an end of the chunk are at most 1, so matrix
products with these decays are computed in float16."""

import torch
import triton
import triton.language as tl


@triton.jit
def _segment_kernel(
    k_ptr,
    v_ptr,
    g_ptr,
    state_ptr,
    total_ptr,
    seq,
    segment,
    C: tl.constexpr,
    DK: tl.constexpr,
    DV: tl.constexpr,
    BV: tl.constexpr,
):
    """Computes a segment's contribution to the state, and the factor by which the segment decays
    the earlier state."""
    part = tl.program_id(2)
    slot = (tl.program_id(1) * tl.num_programs(2) + part).to(tl.int64)
    head = tl.program_id(1).to(tl.int64) * seq
    steps = tl.arange(0, C)
    keys = tl.arange(0, DK)
    columns = tl.program_id(0) * BV + tl.arange(0, BV)
    state = tl.zeros((DK, BV), tl.float32)
    gone = tl.zeros((DK,), tl.float32)
    for first in tl.range(part * segment, part * segment + segment, C, num_stages=2):
        rows = first + steps
        inside = (rows < seq)[:, None]
        at = (head + rows)[:, None] * DK + keys[None, :]
        g = tl.load(g_ptr + at, mask=inside, other=0.0).to(tl.float32)
        k = tl.load(k_ptr + at, mask=inside, other=0.0).to(tl.float32)
        v = tl.load(v_ptr + (head + rows)[:, None] * DV + columns[None, :], mask=inside, other=0.0)
        total = tl.sum(g, axis=0)
        remembered = (k * tl.exp(total[None, :] - tl.cumsum(g, axis=0))).to(tl.float16)
        state = tl.dot(tl.trans(remembered), v, state * tl.exp(total)[:, None])
        gone += total
    tl.store(state_ptr + (slot * DK + keys)[:, None] * DV + columns[None, :], state)
    if tl.program_id(0) == 0:
        tl.store(total_ptr + slot * DK + keys, gone)


@triton.jit
def _chunk_kernel(
    q_ptr, k_ptr, v_ptr, g_ptr, o_ptr, state_ptr, total_ptr, seq, segment, scale,
    C: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr, BV: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    part = tl.program_id(2)
    head = tl.program_id(1).to(tl.int64) * seq
    steps = tl.arange(0, C)
    keys = tl.arange(0, DK)
    columns = tl.program_id(0) * BV + tl.arange(0, BV)
    causal = steps[:, None] >= steps[None, :]
    state = tl.zeros((DK, BV), tl.float32)
    for before in range(0, part):
        slot = (tl.program_id(1) * (tl.num_programs(2) - 1) + before).to(tl.int64)
        gone = tl.load(total_ptr + slot * DK + keys)
        state = state * tl.exp(gone)[:, None] + tl.load(
            state_ptr + (slot * DK + keys)[:, None] * DV + columns[None, :]
        )
    for first in tl.range(part * segment, min(part * segment + segment, seq), C, num_stages=2):
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
        scores = tl.dot(q, tl.trans(k), input_precision=PRECISION)
        scores = tl.where(causal, scores, 0.0)
        out = tl.dot((q * half).to(tl.float16), state.to(tl.float16))
        out = tl.dot(scores.to(tl.float16), v, out)
        tl.store(o_ptr + value_at, out * scale, mask=inside)
        remembered = (k * half).to(tl.float16)
        state = tl.dot(tl.trans(remembered), v, state * tl.exp(total)[:, None])


def _precision() -> str:
    """Returns the precision of products of float32 matrices. Of AMD's GPUs, only gfx942 has TF32;
    the others multiply float32 directly."""
    if triton.knobs.runtime.interpret:
        return "tf32"
    arch = triton.runtime.driver.active.get_current_target().arch
    return "tf32" if isinstance(arch, int) or arch == "gfx942" else "ieee"


def gated_linear_attn_chunk(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, scale: float
) -> torch.Tensor:
    batch, heads, seq, key_dim = q.shape
    value_dim = v.shape[3]
    o = torch.empty(v.shape, dtype=torch.float32, device=q.device)
    # A chunk needs the state of the previous chunk, but segments of the sequence must run in
    # parallel. So the first kernel computes each segment's contribution to the state, for which it
    # reads k, v and g an additional time. The second kernel combines the contributions of all
    # earlier segments, and starts each segment with that state.
    parts = max(1, min(4, triton.cdiv(seq, 256)))
    segment = triton.cdiv(triton.cdiv(seq, parts), 64) * 64
    parts = triton.cdiv(seq, segment)
    block = min(64, value_dim)
    warps = 8 if key_dim > 64 else 4
    state = torch.empty(
        (batch * heads, max(1, parts - 1), key_dim, value_dim), dtype=torch.float32, device=q.device
    )
    total = torch.empty(
        (batch * heads, max(1, parts - 1), key_dim), dtype=torch.float32, device=q.device
    )
    if parts > 1:
        _segment_kernel[(value_dim // block, batch * heads, parts - 1)](
            k,
            v,
            g,
            state,
            total,
            seq,
            segment,
            C=64,
            DK=key_dim,
            DV=value_dim,
            BV=block,
            num_warps=warps,
        )
    _chunk_kernel[(value_dim // block, batch * heads, parts)](
        q,
        k,
        v,
        g,
        o,
        state,
        total,
        seq,
        segment,
        scale,
        C=64,
        DK=key_dim,
        DV=value_dim,
        BV=block,
        PRECISION=_precision(),
        num_warps=warps,
    )
    return o
