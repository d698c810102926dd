"""Each program computes soft-capped causal attention for one block of queries, with a running
maximum and sum.

cap * tanh(x) = cap - 2 cap / (exp(2x) + 1), and the constant term `cap` does not change a softmax.
So each score needs one base-2 exponential and one division. If the exponential overflows, the
quotient is 0, which is the correct limit. Blocks left of the diagonal need no mask."""

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
    origin_row,
    first,
    last,
    rows,
    seq,
    inner,
    outer,
    BN: tl.constexpr,
    D: tl.constexpr,
    MASKED: tl.constexpr,
):
    for start in range(first, last, BN):
        keys = start + tl.arange(0, BN)
        k = tl.trans(k_desc.load([origin_row + start, 0]))
        v = v_desc.load([origin_row + start, 0])
        scores = outer / (tl.exp2(tl.dot(q, k) * inner) + 1.0)
        if MASKED:
            # Every query attends at least to key 0, which is in this block or an earlier block. So
            # the running maximum is finite from the first block on.
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))
        new = tl.maximum(greatest, tl.max(scores, axis=1))
        p = tl.exp2(scores - new[:, None])
        correction = tl.exp2(greatest - new)
        total = total * correction + tl.sum(p, axis=1)
        acc = tl.dot(p.to(q.dtype), v, acc * correction[:, None])
        greatest = new
    return acc, total, greatest


@triton.jit
def _softcap_kernel(
    q_desc,
    k_desc,
    v_desc,
    o_ptr,
    seq,
    inner,
    outer,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
):
    diagonal = (tl.num_programs(1) - 1 - tl.program_id(1)) * BM
    origin_row = tl.program_id(0) * seq
    head = origin_row.to(tl.int64) * D
    rows = diagonal + tl.arange(0, BM)
    dims = tl.arange(0, D)
    tile = head + rows[:, None] * D + dims[None, :]
    q = q_desc.load([origin_row + diagonal, 0])
    acc = tl.zeros((BM, D), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    greatest = tl.full((BM,), -float("inf"), tl.float32)
    acc, total, greatest = _attend(
        acc,
        total,
        greatest,
        q,
        k_desc,
        v_desc,
        origin_row,
        0,
        diagonal,
        rows,
        seq,
        inner,
        outer,
        BN,
        D,
        False,
    )
    end = min(diagonal + BM, seq)
    acc, total, greatest = _attend(
        acc,
        total,
        greatest,
        q,
        k_desc,
        v_desc,
        origin_row,
        diagonal,
        end,
        rows,
        seq,
        inner,
        outer,
        BN,
        D,
        True,
    )
    tl.store(o_ptr + tile, acc * (1.0 / total)[:, None], mask=(rows < seq)[:, None])


def softcap_attn(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, cap: float) -> torch.Tensor:
    batch, heads, seq, dim = q.shape
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    log2e = 1.4426950408889634
    inner = 2.0 * log2e * dim**-0.5 / cap
    outer = -2.0 * log2e * cap
    # BM is a multiple of BN, so the unmasked loop ends exactly at the diagonal block.
    bm, bn, warps, stages = (128, 64, 4, 2) if seq > 512 else (64, 64, 4, 2)
    grid = (batch * heads, triton.cdiv(seq, bm))
    # One view contains the rows of all heads, so the last block of a head can also read rows of the
    # next head. These rows are finite. The causal mask hides them, or their results are not stored.
    q_desc = TensorDescriptor.from_tensor(q.view(-1, dim), [bm, dim])
    k_desc = TensorDescriptor.from_tensor(k.view(-1, dim), [bn, dim])
    v_desc = TensorDescriptor.from_tensor(v.view(-1, dim), [bn, dim])
    _softcap_kernel[grid](
        q_desc,
        k_desc,
        v_desc,
        o,
        seq,
        inner,
        outer,
        BM=bm,
        BN=bn,
        D=dim,
        num_warps=warps,
        num_stages=stages,
    )
    return o
