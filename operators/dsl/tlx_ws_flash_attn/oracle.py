"""This TLX kernel computes attention with specialised warps. One task loads with TMA. Two groups of
four warps each compute 64 queries against all keys.

Within a group, the scores of one block of keys are computed while the products of the previous
block with v are still in flight. The softmax of one group runs during the MMAs of the other group.
The heads are consecutive rows of one matrix, so a tile at the end of a head also contains rows of
the next head. Keys past the end are masked, and queries past the end are not stored. Exponentials
are base 2, and `scale` includes log2(e)."""

import torch
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _attention_kernel(
    q_desc,
    k_desc,
    v_desc,
    o_ptr,
    seq,
    scale,
    BM: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
    STAGES: tl.constexpr,
    EVEN: tl.constexpr,
):
    HALF: tl.constexpr = BM // 2
    q_halves = tlx.local_alloc((HALF, D), tl.float16, 2)
    k_ring = tlx.local_alloc((BN, D), tl.float16, STAGES)
    v_ring = tlx.local_alloc((BN, D), tl.float16, STAGES)
    q_loaded = tlx.alloc_barriers(2, arrive_count=1)
    k_loaded = tlx.alloc_barriers(STAGES, arrive_count=1)
    v_loaded = tlx.alloc_barriers(STAGES, arrive_count=1)
    k_taken = tlx.alloc_barriers(STAGES, arrive_count=2)
    v_taken = tlx.alloc_barriers(STAGES, arrive_count=2)
    # This fence is needed because TMA signals the barriers through a different path to memory (the
    # async proxy) than the path that initialised them.
    tlx.fence("async_shared")
    with tlx.async_tasks():
        with tlx.async_task("default"):
            head = tl.program_id(1) * seq
            for half in tl.static_range(2):
                tlx.barrier_expect_bytes(q_loaded[half], 2 * HALF * D)
                tlx.async_descriptor_load(
                    q_desc,
                    q_halves[half],
                    [head + tl.program_id(0) * BM + half * HALF, 0],
                    q_loaded[half],
                )
            for i in range(0, tl.cdiv(seq, BN)):
                slot = i % STAGES
                # To wait for a free slot, the kernel waits for the slot's previous phase. A new
                # barrier's previous phase counts as complete, so the kernel does not wait.
                tlx.barrier_wait(k_taken[slot], i // STAGES & 1 ^ 1)
                tlx.barrier_expect_bytes(k_loaded[slot], 2 * BN * D)
                tlx.async_descriptor_load(k_desc, k_ring[slot], [head + i * BN, 0], k_loaded[slot])
                tlx.barrier_wait(v_taken[slot], i // STAGES & 1 ^ 1)
                tlx.barrier_expect_bytes(v_loaded[slot], 2 * BN * D)
                tlx.async_descriptor_load(v_desc, v_ring[slot], [head + i * BN, 0], v_loaded[slot])
        with tlx.async_task(num_warps=4, registers=232, replicate=2):
            half = tlx.async_task_replica_id()
            keys = tl.arange(0, BN)
            blocks = tl.cdiv(seq, BN)
            tlx.barrier_wait(q_loaded[half], 0)
            tlx.barrier_wait(k_loaded[0], 0)
            scores = tlx.async_dot(q_halves[half], tlx.local_trans(k_ring[0]))
            scores = tlx.async_dot_wait(0, scores)
            tlx.barrier_arrive(k_taken[0], 1)
            if not EVEN:
                scores = tl.where(keys[None, :] < seq, scores, -float("inf"))
            greatest = tl.max(scores, 1) * scale
            p = tl.exp2(scores * scale - greatest[:, None])
            total = tl.sum(p, 1)
            acc = tl.zeros((HALF, D), tl.float32)
            for i in range(1, blocks):
                slot = i % STAGES
                before = (i - 1) % STAGES
                tlx.barrier_wait(k_loaded[slot], i // STAGES & 1)
                scores = tlx.async_dot(q_halves[half], tlx.local_trans(k_ring[slot]))
                tlx.barrier_wait(v_loaded[before], (i - 1) // STAGES & 1)
                acc = tlx.async_dot(p.to(tl.float16), v_ring[before], acc)
                scores = tlx.async_dot_wait(1, scores)
                tlx.barrier_arrive(k_taken[slot], 1)
                if not EVEN:
                    # Every block has a key that is not masked, so the running maximum stays finite.
                    scores = tl.where(i * BN + keys[None, :] < seq, scores, -float("inf"))
                new = tl.maximum(greatest, tl.max(scores, 1) * scale)
                p = tl.exp2(scores * scale - new[:, None])
                correction = tl.exp2(greatest - new)
                total = total * correction + tl.sum(p, 1)
                greatest = new
                acc = tlx.async_dot_wait(0, acc)
                tlx.barrier_arrive(v_taken[before], 1)
                acc = acc * correction[:, None]
            tlx.barrier_wait(v_loaded[(blocks - 1) % STAGES], (blocks - 1) // STAGES & 1)
            acc = tlx.async_dot(p.to(tl.float16), v_ring[(blocks - 1) % STAGES], acc)
            acc = tlx.async_dot_wait(0, acc)
            rows = tl.program_id(0) * BM + half * HALF + tl.arange(0, HALF)
            tile = (tl.program_id(1).to(tl.int64) * seq + rows)[:, None] * D + tl.arange(0, D)[
                None, :
            ]
            tl.store(o_ptr + tile, acc / total[:, None], mask=rows[:, None] < seq)


def tlx_ws_flash_attn(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    batch, heads, seq, dim = q.shape
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    bm, bn = 128, 128
    q_desc, k_desc, v_desc = (
        TensorDescriptor.from_tensor(t.view(-1, dim), [box, dim])
        for t, box in ((q, bm // 2), (k, bn), (v, bn))
    )
    scale = dim**-0.5 * 1.4426950408889634
    _attention_kernel[(triton.cdiv(seq, bm), batch * heads)](
        q_desc,
        k_desc,
        v_desc,
        o,
        seq,
        scale,
        BM=bm,
        BN=bn,
        D=dim,
        STAGES=2,
        EVEN=seq % bn == 0,
        num_warps=4,
        num_stages=1,
    )
    return o
