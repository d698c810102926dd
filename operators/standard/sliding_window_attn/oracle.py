"""Sliding-window attention: a block of queries walks over the keys of its window only, with a running maximum and sum.

The keys fall into three ranges: those that enter the window of some rows only, those that all rows see, and the diagonal. The middle one,
most of a long window, needs no mask. Exponentials are base 2, with log2(e) folded into the scale.
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
    seq,
    window,
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
        scores = tl.dot(q, k)
        if MASKED:
            distance = rows[:, None] - keys[None, :]
            scores = tl.where((distance >= 0) & (distance < window), scores, -float("inf"))
        new = tl.maximum(greatest, tl.max(scores, axis=1) * scale)
        p = tl.exp2(scores * scale - new[:, None])
        correction = tl.exp2(greatest - new)
        total = total * correction + tl.sum(p, axis=1)
        acc = tl.dot(p.to(q.dtype), v, acc * correction[:, None])
        greatest = new
    return acc, total, greatest


@triton.jit
def _window_kernel(q_ptr, k_ptr, v_ptr, o_ptr, seq, window, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    diagonal = tl.program_id(0) * BM
    head = tl.program_id(1).to(tl.int64) * seq * D
    rows = diagonal + tl.arange(0, BM)
    dims = tl.arange(0, D)
    tile = head + rows[:, None] * D + dims[None, :]
    q = tl.load(q_ptr + tile, mask=(rows < seq)[:, None], other=0.0)
    k_head = k_ptr + head
    v_head = v_ptr + head
    acc = tl.zeros((BM, D), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    # A late row may see nothing of the first block: the finite start keeps it free of -inf - -inf.
    greatest = tl.full((BM,), -1.0e30, tl.float32)
    # From `low` on some row sees the key, from `inner` on all rows do (as far as the diagonal).
    low = max(diagonal - window + 1, 0) // BN * BN
    inner = min((max(diagonal + BM - window, 0) + BN - 1) // BN * BN, diagonal)
    acc, total, greatest = _attend(acc, total, greatest, q, k_head, v_head, low, inner, rows, seq, window, scale, BN, D, True)
    acc, total, greatest = _attend(acc, total, greatest, q, k_head, v_head, inner, diagonal, rows, seq, window, scale, BN, D, False)
    end = min(diagonal + BM, seq)
    acc, total, greatest = _attend(acc, total, greatest, q, k_head, v_head, diagonal, end, rows, seq, window, scale, BN, D, True)
    tl.store(o_ptr + tile, acc / total[:, None], mask=(rows < seq)[:, None])


def sliding_window_attn(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, window: int) -> torch.Tensor:
    batch, heads, seq, dim = q.shape
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    scale = dim**-0.5 * 1.4426950408889634
    # A window much shorter than a tile would make most of the tile masked work.
    bm, bn, warps, stages = (128, 64, 8, 3) if seq > 512 and window > 128 else (64, 64, 4, 3)
    grid = (triton.cdiv(seq, bm), batch * heads)
    _window_kernel[grid](q, k, v, o, seq, window, scale, BM=bm, BN=bn, D=dim, num_warps=warps, num_stages=stages)
    return o
