"""Three kernels compute the backward pass of attention: first delta, then dk and dv by blocks of
keys, then dq by blocks of queries.

The last two kernels both compute the scores. This is cheaper than one kernel that adds up dq with
atomics, and it always gives the same bits. The second kernel transposes the scores (keys x
queries), so that p and ds are left operands, which tensor cores can read from registers.
Exponentials are base 2. Queries past the end are loaded as zeros, so they add nothing. The causal
mask hides keys past the end."""

import torch
import triton
import triton.language as tl


@triton.jit
def _delta_kernel(o_ptr, do_ptr, delta_ptr, rows, BM: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    tile = row.to(tl.int64)[:, None] * D + tl.arange(0, D)[None, :]
    o = tl.load(o_ptr + tile, mask=(row < rows)[:, None], other=0.0).to(tl.float32)
    do = tl.load(do_ptr + tile, mask=(row < rows)[:, None], other=0.0).to(tl.float32)
    tl.store(delta_ptr + row, tl.sum(o * do, axis=1), mask=row < rows)


@triton.jit
def _walk_queries(
    dk,
    dv,
    k,
    v,
    q_head,
    do_head,
    lse_head,
    delta_head,
    first,
    last,
    keys,
    seq,
    scale,
    BM: tl.constexpr,
    D: tl.constexpr,
    DIAGONAL: tl.constexpr,
    WHOLE: tl.constexpr,
):
    dims = tl.arange(0, D)
    for start in range(first, last, BM):
        rows = start + tl.arange(0, BM)
        if WHOLE:
            q = tl.load(q_head + rows[:, None] * D + dims[None, :])
            do = tl.load(do_head + rows[:, None] * D + dims[None, :])
            lse = tl.load(lse_head + rows)
            delta = tl.load(delta_head + rows)
        else:
            q = tl.load(
                q_head + rows[:, None] * D + dims[None, :], mask=(rows < seq)[:, None], other=0.0
            )
            do = tl.load(
                do_head + rows[:, None] * D + dims[None, :], mask=(rows < seq)[:, None], other=0.0
            )
            lse = tl.load(lse_head + rows, mask=rows < seq, other=0.0)
            delta = tl.load(delta_head + rows, mask=rows < seq, other=0.0)
        p = tl.exp2(tl.dot(k, tl.trans(q)) * scale - (lse * 1.4426950408889634)[None, :])
        if DIAGONAL:
            p = tl.where(rows[None, :] >= keys[:, None], p, 0.0)
        dv = tl.dot(p.to(k.dtype), do, dv)
        ds = p * (tl.dot(v, tl.trans(do)) - delta[None, :])
        dk = tl.dot(ds.to(k.dtype), q, dk)
    return dk, dv


@triton.jit
def _keys_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    lse_ptr,
    delta_ptr,
    dk_ptr,
    dv_ptr,
    seq,
    scale,
    scale_log2e,
    BN: tl.constexpr,
    BM: tl.constexpr,
    D: tl.constexpr,
    WHOLE: tl.constexpr,
):
    # Most queries attend to the first keys, so the programs of the first keys start first.
    diagonal = tl.program_id(0) * BN
    head = tl.program_id(1).to(tl.int64) * seq
    keys = diagonal + tl.arange(0, BN)
    tile = head * D + keys[:, None] * D + tl.arange(0, D)[None, :]
    k = tl.load(k_ptr + tile, mask=(keys < seq)[:, None], other=0.0)
    v = tl.load(v_ptr + tile, mask=(keys < seq)[:, None], other=0.0)
    dk = tl.zeros((BN, D), tl.float32)
    dv = tl.zeros((BN, D), tl.float32)
    q_head = q_ptr + head * D
    do_head = do_ptr + head * D
    lse_head = lse_ptr + head
    delta_head = delta_ptr + head
    below = min(diagonal + BN, seq)
    dk, dv = _walk_queries(
        dk,
        dv,
        k,
        v,
        q_head,
        do_head,
        lse_head,
        delta_head,
        diagonal,
        below,
        keys,
        seq,
        scale_log2e,
        BM,
        D,
        True,
        WHOLE,
    )
    dk, dv = _walk_queries(
        dk,
        dv,
        k,
        v,
        q_head,
        do_head,
        lse_head,
        delta_head,
        below,
        seq,
        keys,
        seq,
        scale_log2e,
        BM,
        D,
        False,
        WHOLE,
    )
    tl.store(dk_ptr + tile, dk * scale, mask=(keys < seq)[:, None])
    tl.store(dv_ptr + tile, dv, mask=(keys < seq)[:, None])


@triton.jit
def _walk_keys(
    dq,
    q,
    do,
    lse,
    delta,
    k_head,
    v_head,
    first,
    last,
    rows,
    seq,
    scale,
    BN: tl.constexpr,
    D: tl.constexpr,
    DIAGONAL: tl.constexpr,
):
    dims = tl.arange(0, D)
    for start in range(first, last, BN):
        keys = start + tl.arange(0, BN)
        if DIAGONAL:
            k = tl.load(
                k_head + keys[:, None] * D + dims[None, :], mask=(keys < seq)[:, None], other=0.0
            )
            v = tl.load(
                v_head + keys[:, None] * D + dims[None, :], mask=(keys < seq)[:, None], other=0.0
            )
        else:
            k = tl.load(k_head + keys[:, None] * D + dims[None, :])
            v = tl.load(v_head + keys[:, None] * D + dims[None, :])
        p = tl.exp2(tl.dot(q, tl.trans(k)) * scale - lse[:, None])
        if DIAGONAL:
            p = tl.where(rows[:, None] >= keys[None, :], p, 0.0)
        ds = p * (tl.dot(do, tl.trans(v)) - delta[:, None])
        dq = tl.dot(ds.to(q.dtype), k, dq)
    return dq


@triton.jit
def _queries_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    do_ptr,
    lse_ptr,
    delta_ptr,
    dq_ptr,
    seq,
    scale,
    scale_log2e,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
):
    # The last queries attend to most keys, so the programs of the last queries start first.
    diagonal = (tl.num_programs(0) - 1 - tl.program_id(0)) * BM
    head = tl.program_id(1).to(tl.int64) * seq
    rows = diagonal + tl.arange(0, BM)
    tile = head * D + rows[:, None] * D + tl.arange(0, D)[None, :]
    q = tl.load(q_ptr + tile, mask=(rows < seq)[:, None], other=0.0)
    do = tl.load(do_ptr + tile, mask=(rows < seq)[:, None], other=0.0)
    lse = tl.load(lse_ptr + head + rows, mask=rows < seq, other=0.0) * 1.4426950408889634
    delta = tl.load(delta_ptr + head + rows, mask=rows < seq, other=0.0)
    k_head = k_ptr + head * D
    v_head = v_ptr + head * D
    dq = tl.zeros((BM, D), tl.float32)
    dq = _walk_keys(
        dq, q, do, lse, delta, k_head, v_head, 0, diagonal, rows, seq, scale_log2e, BN, D, False
    )
    end = min(diagonal + BM, seq)
    dq = _walk_keys(
        dq, q, do, lse, delta, k_head, v_head, diagonal, end, rows, seq, scale_log2e, BN, D, True
    )
    tl.store(dq_ptr + tile, dq * scale, mask=(rows < seq)[:, None])


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has 64 KiB of shared memory and 512 registers per lane.
    These are enough for blocks of 64 rows, with loops over blocks of 32 rows."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def flash_attn_bwd(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    o: torch.Tensor,
    lse: torch.Tensor,
    do: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    batch, heads, seq, dim = q.shape
    dq = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    dk = torch.empty_like(dq)
    dv = torch.empty_like(dq)
    delta = torch.empty_like(lse)
    rows = batch * heads * seq
    scale = dim**-0.5
    log2e = 1.4426950408889634
    # A program keeps a block of `wide` rows and loops over blocks of `narrow` rows. `wide` is a
    # multiple of `narrow`, so the loops end exactly at the diagonal.
    wide, narrow, warps = (128, 64, 8) if seq > 512 else (64, 64, 4)
    if _is_amd():
        wide, narrow, warps = (64 if dim <= 64 else 32), 32, 4
    grid = (triton.cdiv(seq, wide), batch * heads)
    _delta_kernel[(triton.cdiv(rows, 64),)](o, do, delta, rows, BM=64, D=dim, num_warps=4)
    _keys_kernel[grid](
        q,
        k,
        v,
        do,
        lse,
        delta,
        dk,
        dv,
        seq,
        scale,
        scale * log2e,
        BN=wide,
        BM=narrow,
        D=dim,
        WHOLE=seq % wide == 0,
        num_warps=warps,
        num_stages=2,
    )
    _queries_kernel[grid](
        q,
        k,
        v,
        do,
        lse,
        delta,
        dq,
        seq,
        scale,
        scale * log2e,
        BM=wide,
        BN=narrow,
        D=dim,
        num_warps=warps,
        num_stages=3,
    )
    return dq, dk, dv
