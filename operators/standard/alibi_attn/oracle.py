"""ALiBi attention: one block of queries per program, with a running maximum and sum.

The bias slope * (j - i) differs from slope * j by a constant of the row, which a softmax does not see. So the bias is one number per key,
counted from the block's first row to keep it small. Exponentials are base 2; blocks left of the diagonal need no mask.
"""

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
    origin,
    seq,
    slope,
    scale,
    BN: tl.constexpr,
    D: tl.constexpr,
    MASKED: tl.constexpr,
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
        bias = slope * (keys - origin).to(tl.float32)
        scores = tl.dot(q, k) * scale + bias[None, :]
        if MASKED:
            # Every query sees at least key 0 of an earlier or this block, so the running maximum is finite from the first block on.
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))
        new = tl.maximum(greatest, tl.max(scores, axis=1))
        p = tl.exp2(scores - new[:, None])
        correction = tl.exp2(greatest - new)
        total = total * correction + tl.sum(p, axis=1)
        acc = tl.dot(p.to(q.dtype), v, acc * correction[:, None])
        greatest = new
    return acc, total, greatest


@triton.jit
def _alibi_kernel(q_ptr, k_ptr, v_ptr, o_ptr, seq, heads, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    diagonal = (tl.num_programs(0) - 1 - tl.program_id(0)) * BM
    head = tl.program_id(1)
    # log2(e) is folded into the slope, as into the scale.
    slope = tl.exp2(-8.0 * (head % heads + 1).to(tl.float32) / heads) * 1.4426950408889634
    start = head.to(tl.int64) * seq * D
    rows = diagonal + tl.arange(0, BM)
    dims = tl.arange(0, D)
    tile = start + rows[:, None] * D + dims[None, :]
    q = tl.load(q_ptr + tile, mask=(rows < seq)[:, None], other=0.0)
    k_head = k_ptr + start
    v_head = v_ptr + start
    acc = tl.zeros((BM, D), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    greatest = tl.full((BM,), -float("inf"), tl.float32)
    acc, total, greatest = _attend(acc, total, greatest, q, k_head, v_head, 0, diagonal, rows, diagonal, seq, slope, scale, BN, D, False)
    end = min(diagonal + BM, seq)
    acc, total, greatest = _attend(acc, total, greatest, q, k_head, v_head, diagonal, end, rows, diagonal, seq, slope, scale, BN, D, True)
    tl.store(o_ptr + tile, acc / total[:, None], mask=(rows < seq)[:, None])


def alibi_attn(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    batch, heads, seq, dim = q.shape
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    scale = dim**-0.5 * 1.4426950408889634
    # BM is a multiple of BN, so the unmasked loop ends exactly at the diagonal block.
    bm, bn, warps, stages = (128, 128, 8, 3) if seq > 512 else (64, 64, 4, 2)
    grid = (triton.cdiv(seq, bm), batch * heads)
    _alibi_kernel[grid](q, k, v, o, seq, heads, scale, BM=bm, BN=bn, D=dim, num_warps=warps, num_stages=stages)
    return o
