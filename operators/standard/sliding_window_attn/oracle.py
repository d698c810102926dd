"""Each program computes sliding-window attention for one block of queries. It loops only over keys
that are in the window of a query of the block, and keeps a running maximum and sum.

The keys form three ranges: keys that are in the windows of only some rows, keys that are in the
windows of all rows, and the diagonal block. The middle range needs no mask, and it is most of a
long window. Exponentials are base 2, and the scale includes log2(e)."""

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
    window,
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
def _window_kernel(
    q_desc,
    k_desc,
    v_desc,
    o_ptr,
    seq,
    window,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
):
    diagonal = tl.program_id(1) * BM
    origin_row = tl.program_id(0) * seq
    head = origin_row.to(tl.int64) * D
    rows = diagonal + tl.arange(0, BM)
    dims = tl.arange(0, D)
    tile = head + rows[:, None] * D + dims[None, :]
    q = q_desc.load([origin_row + diagonal, 0])
    acc = tl.zeros((BM, D), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    # For one of the last rows, all keys of the first block can be masked. The maximum starts with a
    # finite value, because -inf - (-inf) would be NaN for such a row.
    greatest = tl.full((BM,), -1.0e30, tl.float32)
    # Keys from `low` on are in the window of at least one row. Keys from `inner` up to the diagonal
    # are in the windows of all rows.
    low = max(diagonal - window + 1, 0) // BN * BN
    inner = min((max(diagonal + BM - window, 0) + BN - 1) // BN * BN, diagonal)
    acc, total, greatest = _attend(
        acc,
        total,
        greatest,
        q,
        k_desc,
        v_desc,
        origin_row,
        low,
        inner,
        rows,
        seq,
        window,
        scale,
        BN,
        D,
        True,
    )
    acc, total, greatest = _attend(
        acc,
        total,
        greatest,
        q,
        k_desc,
        v_desc,
        origin_row,
        inner,
        diagonal,
        rows,
        seq,
        window,
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
        seq,
        window,
        scale,
        BN,
        D,
        True,
    )
    tl.store(o_ptr + tile, acc * (1.0 / total)[:, None], mask=(rows < seq)[:, None])


def _is_amd() -> bool:
    """Returns True on AMD GPUs. A tile of 128 rows needs more registers than 4 waves have."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def sliding_window_attn(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, window: int
) -> torch.Tensor:
    batch, heads, seq, dim = q.shape
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    scale = dim**-0.5 * 1.4426950408889634
    # If the window were much shorter than a tile, most of the tile would be masked. So a short
    # window uses small tiles.
    wide = seq > 512 and window > 128 and not _is_amd()
    bm, bn, warps, stages = (128, 64, 4, 2) if wide else (64, 64, 4, 3)
    grid = (batch * heads, triton.cdiv(seq, bm))
    # One view contains the rows of all heads, so the last block of a head can also read rows of the
    # next head. These rows are finite. The causal mask hides them, or their results are not stored.
    q_desc = TensorDescriptor.from_tensor(q.view(-1, dim), [bm, dim])
    k_desc = TensorDescriptor.from_tensor(k.view(-1, dim), [bn, dim])
    v_desc = TensorDescriptor.from_tensor(v.view(-1, dim), [bn, dim])
    _window_kernel[grid](
        q_desc,
        k_desc,
        v_desc,
        o,
        seq,
        window,
        scale,
        BM=bm,
        BN=bn,
        D=dim,
        num_warps=warps,
        num_stages=stages,
    )
    return o
