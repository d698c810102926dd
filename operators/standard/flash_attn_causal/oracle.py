"""The kernel computes causal attention without storing a score matrix. Each program loops over the
keys for one block of queries, with a running maximum and sum.

TMA loads queries, keys and values from a (batch * heads * seq) x head_dim view, so the loads need
neither pointers nor masks. A block at the end of a head also reads rows of the next head, or zeros.
These values are finite, and the causal mask hides them. Blocks left of the diagonal need no mask
and have their own loop. The programs with the most blocks (those of the last queries) start first.
Exponentials are base 2, and the scale includes log2(e)."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _attend(
    acc,
    total,
    greatest,
    q,
    k_desc,
    v_desc,
    head,
    first,
    last,
    rows,
    scale,
    BN: tl.constexpr,
    MASKED: tl.constexpr,
):
    for start in range(first, last, BN):
        k = k_desc.load([head + start, 0])
        scores = tl.dot(q, k.T)
        if MASKED:
            # Every query attends at least to key 0, which is in this block or an earlier block. So
            # the running maximum is finite from the first block on.
            keys = start + tl.arange(0, BN)
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))
        new = tl.maximum(greatest, tl.max(scores, axis=1) * scale)
        p = tl.exp2(scores * scale - new[:, None])
        correction = tl.exp2(greatest - new)
        total = total * correction + tl.sum(p, axis=1)
        v = v_desc.load([head + start, 0])
        acc = tl.dot(p.to(q.dtype), v, acc * correction[:, None])
        greatest = new
    return acc, total, greatest


@triton.jit
def _attention_kernel(
    q_desc, k_desc, v_desc, o_ptr, seq, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr
):
    block = tl.num_programs(1) - 1 - tl.program_id(1)
    head = tl.program_id(0) * seq
    diagonal = block * BM
    rows = diagonal + tl.arange(0, BM)
    q = q_desc.load([head + diagonal, 0])
    acc = tl.zeros((BM, D), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    greatest = tl.full((BM,), -float("inf"), tl.float32)
    acc, total, greatest = _attend(
        acc, total, greatest, q, k_desc, v_desc, head, 0, diagonal, rows, scale, BN, False
    )
    end = min(diagonal + BM, seq)
    acc, total, greatest = _attend(
        acc, total, greatest, q, k_desc, v_desc, head, diagonal, end, rows, scale, BN, True
    )
    tile = head.to(tl.int64) * D + rows[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(o_ptr + tile, acc * (1.0 / total)[:, None], mask=(rows < seq)[:, None])


def flash_attn_causal(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    batch, heads, seq, dim = q.shape
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    scale = dim**-0.5 * 1.4426950408889634
    # BM is a multiple of BN, so the unmasked loop ends exactly at the diagonal block.
    bm, bn, warps, stages = (128, 64, 4, 2) if seq > 512 else (64, 64, 4, 2)
    q_desc = TensorDescriptor.from_tensor(q.view(-1, dim), [bm, dim])
    k_desc = TensorDescriptor.from_tensor(k.view(-1, dim), [bn, dim])
    v_desc = TensorDescriptor.from_tensor(v.view(-1, dim), [bn, dim])
    # Heads are the fast grid axis, so all programs with the most blocks start first, and short
    # programs fill the gaps at the end.
    _attention_kernel[(batch * heads, triton.cdiv(seq, bm))](
        q_desc,
        k_desc,
        v_desc,
        o,
        seq,
        scale,
        BM=bm,
        BN=bn,
        D=dim,
        num_warps=warps,
        num_stages=stages,
    )
    return o
