"""The kernel computes attention without storing a score matrix. Each program loops over the keys
for one block of queries, with a running maximum and sum.

All blocks of keys except the last are full and need no mask. Only a partial last block uses the
masked step. Exponentials are base 2, and the scale includes log2(e)."""

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
    seq_k,
    scale,
    BN: tl.constexpr,
    D: tl.constexpr,
    MASKED: tl.constexpr,
):
    for start in range(first, last, BN):
        keys = start + tl.arange(0, BN)
        k = tl.trans(k_desc.load([origin_row + start, 0]))
        v = v_desc.load([origin_row + start, 0])
        scores = tl.dot(q, k)
        if MASKED:
            scores = tl.where((keys < seq_k)[None, :], scores, -float("inf"))
        new = tl.maximum(greatest, tl.max(scores, axis=1) * scale)
        p = tl.exp2(scores * scale - new[:, None])
        correction = tl.exp2(greatest - new)
        total = total * correction + tl.sum(p, axis=1)
        acc = tl.dot(p.to(q.dtype), v, acc * correction[:, None])
        greatest = new
    return acc, total, greatest


@triton.jit
def _attention_kernel(
    q_desc,
    k_desc,
    v_desc,
    o_ptr,
    seq_q,
    seq_k,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
):
    head = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    dims = tl.arange(0, D)
    tile = head * seq_q * D + rows[:, None] * D + dims[None, :]
    q = q_desc.load([tl.program_id(1) * seq_q + tl.program_id(0) * BM, 0])
    origin_row = tl.program_id(1) * seq_k
    acc = tl.zeros((BM, D), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    greatest = tl.full((BM,), -float("inf"), tl.float32)
    whole = seq_k // BN * BN
    acc, total, greatest = _attend(
        acc, total, greatest, q, k_desc, v_desc, origin_row, 0, whole, seq_k, scale, BN, D, False
    )
    acc, total, greatest = _attend(
        acc, total, greatest, q, k_desc, v_desc, origin_row, whole, seq_k, seq_k, scale, BN, D, True
    )
    tl.store(o_ptr + tile, acc * (1.0 / total)[:, None], mask=(rows < seq_q)[:, None])


def _is_amd() -> bool:
    """Returns True on AMD GPUs. A tile of 128 rows needs more registers than 4 waves have."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def flash_attn_fwd(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    batch, heads, seq_q, dim = q.shape
    seq_k = k.shape[2]
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    scale = dim**-0.5 * 1.4426950408889634
    # If there are few queries, smaller tiles spread them over more SMs.
    bm, bn, warps, stages = (128, 64, 4, 2) if seq_q > 512 and not _is_amd() else (64, 64, 4, 3)
    grid = (triton.cdiv(seq_q, bm), batch * heads)
    # Each view has the rows of all heads, so the last block of a head can also read rows of the next
    # head. Such rows of k and v get the weight 0, and results of such rows of q are not stored.
    q_desc = TensorDescriptor.from_tensor(q.view(-1, dim), [bm, dim])
    k_desc = TensorDescriptor.from_tensor(k.view(-1, dim), [bn, dim])
    v_desc = TensorDescriptor.from_tensor(v.view(-1, dim), [bn, dim])
    _attention_kernel[grid](
        q_desc,
        k_desc,
        v_desc,
        o,
        seq_q,
        seq_k,
        scale,
        BM=bm,
        BN=bn,
        D=dim,
        num_warps=warps,
        num_stages=stages,
    )
    return o
