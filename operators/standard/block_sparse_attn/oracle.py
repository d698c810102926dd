"""Each program computes block-sparse attention for one block of 64 queries. It loops over its row
of the CSR list, with a running maximum and sum.

The lookup of the next block is part of the software pipeline, so the keys and values of a block are
being loaded while the previous block is multiplied. Programs with few blocks end early. There are
many programs per SM, so the load stays balanced. Exponentials are base 2."""

import torch
import triton
import triton.language as tl


@triton.jit
def _block_sparse_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    offsets_ptr,
    columns_ptr,
    seq,
    scale,
    B: tl.constexpr,
    D: tl.constexpr,
    WHOLE: tl.constexpr,
):
    row = tl.program_id(0)
    head = tl.program_id(1).to(tl.int64) * seq * D
    lane = tl.arange(0, B)
    dims = tl.arange(0, D)
    queries = row * B + lane
    tile = head + queries[:, None] * D + dims[None, :]
    q = tl.load(q_ptr + tile, mask=(queries < seq)[:, None], other=0.0)
    acc = tl.zeros((B, D), tl.float32)
    total = tl.zeros((B,), tl.float32)
    greatest = tl.full((B,), -float("inf"), tl.float32)
    first = tl.load(offsets_ptr + row)
    last = tl.load(offsets_ptr + row + 1)
    for at in range(first, last):
        keys = tl.load(columns_ptr + at) * B + lane
        if WHOLE:
            k = tl.load(k_ptr + head + keys[None, :] * D + dims[:, None])
            v = tl.load(v_ptr + head + keys[:, None] * D + dims[None, :])
            scores = tl.dot(q, k)
        else:
            k = tl.load(
                k_ptr + head + keys[None, :] * D + dims[:, None],
                mask=(keys < seq)[None, :],
                other=0.0,
            )
            v = tl.load(
                v_ptr + head + keys[:, None] * D + dims[None, :],
                mask=(keys < seq)[:, None],
                other=0.0,
            )
            scores = tl.where((keys < seq)[None, :], tl.dot(q, k), -float("inf"))
        new = tl.maximum(greatest, tl.max(scores, axis=1) * scale)
        p = tl.exp2(scores * scale - new[:, None])
        correction = tl.exp2(greatest - new)
        total = total * correction + tl.sum(p, axis=1)
        acc = tl.dot(p.to(q.dtype), v, acc * correction[:, None])
        greatest = new
    # An empty row has a sum of 0. Its result must be 0, not 0 / 0.
    o = acc / tl.where(total > 0.0, total, 1.0)[:, None]
    tl.store(o_ptr + tile, o, mask=(queries < seq)[:, None])


def _stages(most: int) -> int:
    """Returns the number of pipeline stages: `most` in general, and at most two on AMD GPUs. An AMD
    GPU has 64 KiB of shared memory, which is enough for the tiles of one step only. With two stages
    the loads run one step ahead, and the loaded values wait in registers."""
    if (
        triton.knobs.runtime.interpret
        or triton.runtime.driver.active.get_current_target().backend != "hip"
    ):
        return most
    return min(most, 2)


def block_sparse_attn(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    row_offsets: torch.Tensor,
    columns: torch.Tensor,
) -> torch.Tensor:
    batch, heads, seq, dim = q.shape
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    block = 64
    scale = dim**-0.5 * 1.4426950408889634
    grid = (triton.cdiv(seq, block), batch * heads)
    _block_sparse_kernel[grid](
        q,
        k,
        v,
        o,
        row_offsets,
        columns,
        seq,
        scale,
        B=block,
        D=dim,
        WHOLE=seq % block == 0,
        num_warps=4,
        num_stages=_stages(3),
    )
    return o
