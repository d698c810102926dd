"""Each program computes packed causal attention for one block of queries of one sequence and head,
with a running maximum and sum.

The grid has enough blocks of queries for the longest sequence. A program past the end of its own
sequence returns at once. Blocks of keys left of the diagonal need no mask and have their own loop.
The programs of the last queries start first, because they visit the most blocks of keys.
Exponentials are base 2."""

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
    length,
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
                k_head + keys[None, :] * step + dims[:, None],
                mask=(keys < length)[None, :],
                other=0.0,
            )
            v = tl.load(
                v_head + keys[:, None] * step + dims[None, :],
                mask=(keys < length)[:, None],
                other=0.0,
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
def _varlen_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    offsets_ptr,
    heads,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
):
    diagonal = (tl.num_programs(2) - 1 - tl.program_id(2)) * BM
    sequence = tl.program_id(1)
    begin = tl.load(offsets_ptr + sequence)
    length = tl.load(offsets_ptr + sequence + 1) - begin
    if diagonal >= length:
        return
    step = heads * D
    base = begin.to(tl.int64) * step + tl.program_id(0) * D
    rows = diagonal + tl.arange(0, BM)
    dims = tl.arange(0, D)
    tile = base + rows[:, None] * step + dims[None, :]
    q = tl.load(q_ptr + tile, mask=(rows < length)[:, None], other=0.0)
    k_head = k_ptr + base
    v_head = v_ptr + base
    acc = tl.zeros((BM, D), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    greatest = tl.full((BM,), -float("inf"), tl.float32)
    acc, total, greatest = _attend(
        acc,
        total,
        greatest,
        q,
        k_head,
        v_head,
        0,
        diagonal,
        rows,
        length,
        step,
        scale,
        BN,
        D,
        False,
    )
    end = min(diagonal + BM, length)
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
        length,
        step,
        scale,
        BN,
        D,
        True,
    )
    tl.store(o_ptr + tile, acc / total[:, None], mask=(rows < length)[:, None])


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has 64 KiB of shared memory, which is enough for one
    block of 64 keys and values. So the next block is loaded into registers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def varlen_attn(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, cu_seqlens: torch.Tensor, max_seqlen: int
) -> torch.Tensor:
    heads, dim = q.shape[1], q.shape[2]
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    scale = dim**-0.5 * 1.4426950408889634
    # BM is a multiple of BN, so the unmasked loop ends exactly at the diagonal block.
    bm, bn, warps, stages = (128, 128, 8, 3) if max_seqlen > 512 else (64, 64, 4, 2)
    if _is_amd():
        bn, stages = 64, 2
    grid = (heads, cu_seqlens.numel() - 1, triton.cdiv(max_seqlen, bm))
    _varlen_kernel[grid](
        q,
        k,
        v,
        o,
        cu_seqlens,
        heads,
        scale,
        BM=bm,
        BN=bn,
        D=dim,
        num_warps=warps,
        num_stages=stages,
    )
    return o
