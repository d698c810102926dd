"""Causal attention without a score matrix: one block of queries per program walks over the keys with a running maximum and sum.

Blocks left of the diagonal need no mask and are most of the work, so they have a loop of their own. Exponentials are base 2, with
log2(e) folded
into the scale. The longest blocks (last queries) start first, so that the short ones fill the gaps at the end.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _attend(
    acc, total, greatest, q, k_head, v_head, first, last, rows, seq, scale, BN: tl.constexpr, D: tl.constexpr, MASKED: tl.constexpr
):
    dims = tl.arange(0, D)
    for start in range(first, last, BN):
        keys = start + tl.arange(0, BN)
        if MASKED:
            k = tl.load(k_head + keys[None, :] * D + dims[:, None], mask=(keys < seq)[None, :], other=0.0)
            v = tl.load(v_head + keys[:, None] * D + dims[None, :], mask=(keys < seq)[:, None], other=0.0)
        else:
            k = tl.load(k_head + keys[None, :] * D + dims[:, None])
            v = tl.load(v_head + keys[:, None] * D + dims[None, :])
        scores = tl.dot(q, k)
        if MASKED:
            # Every query sees at least key 0 of an earlier or this block, so the running maximum is finite from the first block on.
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))
        new = tl.maximum(greatest, tl.max(scores, axis=1) * scale)
        p = tl.exp2(scores * scale - new[:, None])
        correction = tl.exp2(greatest - new)
        total = total * correction + tl.sum(p, axis=1)
        acc = tl.dot(p.to(q.dtype), v, acc * correction[:, None])
        greatest = new
    return acc, total, greatest


@triton.jit
def _attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, seq, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    block = tl.num_programs(0) - 1 - tl.program_id(0)
    head = tl.program_id(1).to(tl.int64) * seq * D
    rows = block * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    tile = head + rows[:, None] * D + dims[None, :]
    q = tl.load(q_ptr + tile, mask=(rows < seq)[:, None], other=0.0)
    acc = tl.zeros((BM, D), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    greatest = tl.full((BM,), -float("inf"), tl.float32)
    diagonal = block * BM
    acc, total, greatest = _attend(acc, total, greatest, q, k_ptr + head, v_ptr + head, 0, diagonal, rows, seq, scale, BN, D, False)
    end = min(diagonal + BM, seq)
    acc, total, greatest = _attend(acc, total, greatest, q, k_ptr + head, v_ptr + head, diagonal, end, rows, seq, scale, BN, D, True)
    tl.store(o_ptr + tile, acc / total[:, None], mask=(rows < seq)[:, None])


def flash_attn_causal(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    batch, heads, seq, dim = q.shape
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    scale = dim**-0.5 * 1.4426950408889634
    # BM is a multiple of BN, so the unmasked loop ends exactly at the diagonal block.
    bm, bn, warps, stages = (128, 128, 8, 3) if seq > 512 else (64, 64, 4, 2)
    _attention_kernel[(triton.cdiv(seq, bm), batch * heads)](
        q, k, v, o, seq, scale, BM=bm, BN=bn, D=dim, num_warps=warps, num_stages=stages
    )
    return o
