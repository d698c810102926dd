"""Each program computes causal grouped-query attention for one block of queries of one head, with a
running maximum and sum.

The heads of a group share keys and values. The programs of these heads are neighbours in the grid's
fastest dimension and run at the same time, so the shared keys and values come from the L2 cache.
Blocks left of the diagonal need no mask and have their own loop. The programs with the most blocks
(those of the last queries) start first. Exponentials are base 2."""

import torch
import triton
import triton.language as tl


@triton.jit
def _attend(
    acc,
    total,
    greatest,
    q,
    k_head,
    v_head,
    first,
    last,
    rows,
    seq,
    step,
    scale,
    BN: tl.constexpr,
    D: tl.constexpr,
    MASKED: tl.constexpr,
):
    dims = tl.arange(0, D)
    for start in range(first, last, BN):
        keys = start + tl.arange(0, BN)
        if MASKED:
            k = tl.load(
                k_head + keys[None, :] * step + dims[:, None], mask=(keys < seq)[None, :], other=0.0
            )
            v = tl.load(
                v_head + keys[:, None] * step + dims[None, :], mask=(keys < seq)[:, None], other=0.0
            )
        else:
            k = tl.load(k_head + keys[None, :] * step + dims[:, None])
            v = tl.load(v_head + keys[:, None] * step + dims[None, :])
        scores = tl.dot(q, k)
        if MASKED:
            # Every query attends at least to key 0, which is in this block or an earlier block. So
            # the running maximum is finite from the first block on.
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))
        new = tl.maximum(greatest, tl.max(scores, axis=1) * scale)
        p = tl.exp2(scores * scale - new[:, None])
        correction = tl.exp2(greatest - new)
        total = total * correction + tl.sum(p, axis=1)
        acc = tl.dot(p.to(q.dtype), v, acc * correction[:, None])
        greatest = new
    return acc, total, greatest


@triton.jit
def _gqa_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    seq,
    kv_heads,
    group,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
):
    head = tl.program_id(0)
    block = tl.num_programs(1) - 1 - tl.program_id(1)
    token = tl.program_id(2).to(tl.int64) * seq
    q_step = kv_heads * group * D
    k_step = kv_heads * D
    rows = block * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    tile = token * q_step + head * D + rows[:, None] * q_step + dims[None, :]
    q = tl.load(q_ptr + tile, mask=(rows < seq)[:, None], other=0.0)
    k_head = k_ptr + token * k_step + head // group * D
    v_head = v_ptr + token * k_step + head // group * D
    acc = tl.zeros((BM, D), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    greatest = tl.full((BM,), -float("inf"), tl.float32)
    diagonal = block * BM
    acc, total, greatest = _attend(
        acc, total, greatest, q, k_head, v_head, 0, diagonal, rows, seq, k_step, scale, BN, D, False
    )
    end = min(diagonal + BM, seq)
    acc, total, greatest = _attend(
        acc,
        total,
        greatest,
        q,
        k_head,
        v_head,
        diagonal,
        end,
        rows,
        seq,
        k_step,
        scale,
        BN,
        D,
        True,
    )
    tl.store(o_ptr + tile, acc / total[:, None], mask=(rows < seq)[:, None])


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has 64 KiB of shared memory, which is enough for blocks
    of 64 keys and values. The next block waits in registers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def gqa_causal(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    batch, seq, heads, dim = q.shape
    kv_heads = k.shape[2]
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    scale = dim**-0.5 * 1.4426950408889634
    # BM is a multiple of BN, so the unmasked loop ends exactly at the diagonal block.
    bm, bn, warps, stages = (128, 128, 8, 3) if seq > 512 else (64, 64, 4, 2)
    if _is_amd():
        bn, stages = 64, 2
    grid = (heads, triton.cdiv(seq, bm), batch)
    _gqa_kernel[grid](
        q,
        k,
        v,
        o,
        seq,
        kv_heads,
        heads // kv_heads,
        scale,
        BM=bm,
        BN=bn,
        D=dim,
        num_warps=warps,
        num_stages=stages,
    )
    return o
