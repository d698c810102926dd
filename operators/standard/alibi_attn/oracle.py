"""Each program computes ALiBi attention for one block of queries, with a running maximum and sum.

The bias slope * (j - i) differs from slope * j by a value that is constant within a row, and such a
value does not change a softmax. So the kernel needs only one bias per key. It counts keys from the
block's first row, so that the biases stay small. Exponentials are base 2. Blocks left of the
diagonal need no mask."""

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
    origin,
    seq,
    slope,
    scale,
    BN: tl.constexpr,
    D: tl.constexpr,
    MASKED: tl.constexpr,
):
    for start in range(first, last, BN):
        keys = start + tl.arange(0, BN)
        k = tl.trans(k_desc.load([origin_row + start, 0]))
        v = v_desc.load([origin_row + start, 0])
        bias = slope * (keys - origin).to(tl.float32)
        scores = tl.dot(q, k) * scale + bias[None, :]
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
def _alibi_kernel(
    q_desc,
    k_desc,
    v_desc,
    o_ptr,
    seq,
    heads,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
):
    diagonal = (tl.num_programs(1) - 1 - tl.program_id(1)) * BM
    head = tl.program_id(0)
    origin_row = head * seq
    # The slope, like the scale, includes the factor log2(e).
    slope = tl.exp2(-8.0 * (head % heads + 1).to(tl.float32) / heads) * 1.4426950408889634
    start = head.to(tl.int64) * seq * D
    rows = diagonal + tl.arange(0, BM)
    dims = tl.arange(0, D)
    tile = start + rows[:, None] * D + dims[None, :]
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
        diagonal,
        seq,
        slope,
        scale,
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
        diagonal,
        seq,
        slope,
        scale,
        BN,
        D,
        True,
    )
    tl.store(o_ptr + tile, acc * (1.0 / total)[:, None], mask=(rows < seq)[:, None])


def _is_amd() -> bool:
    """Returns True on AMD GPUs. A tile of 64 x 64 needs more registers than 4 waves have."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def alibi_attn(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    batch, heads, seq, dim = q.shape
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    scale = dim**-0.5 * 1.4426950408889634
    # BM is a multiple of BN, so the unmasked loop ends exactly at the diagonal block.
    if _is_amd():
        bm, bn, warps, stages = 64, 32, 4, 2
    else:
        bm, bn, warps, stages = (128, 64, 4, 2) if seq > 512 else (64, 64, 4, 2)
    grid = (batch * heads, triton.cdiv(seq, bm))
    # One view contains the rows of all heads, so the last block of a head can also read rows of the
    # next head. These rows are finite. The causal mask hides them, or their results are not stored.
    q_desc = TensorDescriptor.from_tensor(q.view(-1, dim), [bm, dim])
    k_desc = TensorDescriptor.from_tensor(k.view(-1, dim), [bn, dim])
    v_desc = TensorDescriptor.from_tensor(v.view(-1, dim), [bn, dim])
    _alibi_kernel[grid](
        q_desc,
        k_desc,
        v_desc,
        o,
        seq,
        heads,
        scale,
        BM=bm,
        BN=bn,
        D=dim,
        num_warps=warps,
        num_stages=stages,
    )
    return o
