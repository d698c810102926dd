"""Causal attention without a softmax: no running maximum, so nothing is ever rescaled and both sums just grow.

The decay is exp2(-alpha * log2(1 + i - j)). Blocks left of the diagonal need no mask and have a loop of their own. The longest blocks
(last queries) start first, so that the short ones fill the gaps at the end.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _attend(acc, squares, q, k_head, v_head, first, last, rows, seq, alpha, BN: tl.constexpr, D: tl.constexpr, MASKED: tl.constexpr):
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
        distance = (rows + 1)[:, None] - keys[None, :]
        if MASKED:
            scores = tl.where(distance > 0, scores, 0.0)
            distance = tl.maximum(distance, 1)
        weight = scores * scores * tl.exp2(-alpha * tl.log2(distance.to(tl.float32)))
        squares += tl.sum(weight * weight, axis=1)
        acc = tl.dot(weight.to(q.dtype), v, acc)
    return acc, squares


@triton.jit
def _attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, seq, alpha, eps, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    block = tl.num_programs(0) - 1 - tl.program_id(0)
    head = tl.program_id(1).to(tl.int64) * seq * D
    rows = block * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    tile = head + rows[:, None] * D + dims[None, :]
    q = tl.load(q_ptr + tile, mask=(rows < seq)[:, None], other=0.0)
    acc = tl.zeros((BM, D), tl.float32)
    squares = tl.zeros((BM,), tl.float32)
    diagonal = block * BM
    acc, squares = _attend(acc, squares, q, k_ptr + head, v_ptr + head, 0, diagonal, rows, seq, alpha, BN, D, False)
    end = min(diagonal + BM, seq)
    acc, squares = _attend(acc, squares, q, k_ptr + head, v_ptr + head, diagonal, end, rows, seq, alpha, BN, D, True)
    tl.store(o_ptr + tile, acc * (1.0 / tl.sqrt(squares + eps))[:, None], mask=(rows < seq)[:, None])


def powerlaw_square_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, alpha: float, eps: float) -> torch.Tensor:
    batch, heads, seq, dim = q.shape
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    # BM is a multiple of BN, so the unmasked loop ends exactly at the diagonal block.
    bm, bn, warps, stages = (128, 128, 8, 2) if seq > 512 else (64, 64, 4, 2) if seq > 32 else (16, 16, 2, 2)
    _attention_kernel[(triton.cdiv(seq, bm), batch * heads)](
        q, k, v, o, seq, alpha, eps, BM=bm, BN=bn, D=dim, num_warps=warps, num_stages=stages
    )
    return o
