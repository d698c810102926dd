"""Two kernels compute paged decoding attention. The first kernel computes attention over parts of
the keys, and the second combines the results.

A program processes one part of a sequence for one key head, and all query heads that share this key
head. So the cache is read only once. The query heads are padded to 16 rows, so that matrix-vector
products become tensor-core products. The kernel looks up the page of each key of a block, so the
block size need not match the page size. These lookups hit the L1 cache. If the batch is too small
to fill the GPU, each sequence is divided into several parts."""

import torch
import triton
import triton.language as tl

# The number of programs: two for each SM of the largest GPU. All of them run at the same time, and
# a batch of many sequences needs no second kernel.
PROGRAMS = 264


@triton.jit
def _parts_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    table_ptr,
    lengths_ptr,
    sums_ptr,
    stats_ptr,
    max_pages,
    kv_heads,
    group,
    parts,
    chunk,
    scale,
    PAGE: tl.constexpr,
    BH: tl.constexpr,
    BN: tl.constexpr,
    D: tl.constexpr,
    FINAL: tl.constexpr,
):
    part = tl.program_id(0)
    batch = tl.program_id(2)
    first = part * chunk
    length = tl.load(lengths_ptr + batch)
    if first >= length:
        return
    last = min(first + chunk, length)
    member = tl.arange(0, BH)
    dims = tl.arange(0, D)
    head = (batch * kv_heads + tl.program_id(1)) * group + member
    q = tl.load(
        q_ptr + head[:, None] * D + dims[None, :], mask=(member < group)[:, None], other=0.0
    )
    step = kv_heads * D
    k_head = k_ptr + tl.program_id(1) * D
    v_head = v_ptr + tl.program_id(1) * D
    acc = tl.zeros((BH, D), tl.float32)
    total = tl.zeros((BH,), tl.float32)
    greatest = tl.full((BH,), -float("inf"), tl.float32)
    for start in range(first, last, BN):
        keys = start + tl.arange(0, BN)
        page = tl.load(table_ptr + batch * max_pages + keys // PAGE, mask=keys < last, other=0).to(
            tl.int64
        )
        place = (page * PAGE + keys % PAGE) * step
        k = tl.load(k_head + place[None, :] + dims[:, None], mask=(keys < last)[None, :], other=0.0)
        v = tl.load(v_head + place[:, None] + dims[None, :], mask=(keys < last)[:, None], other=0.0)
        scores = tl.where((keys < last)[None, :], tl.dot(q, k) * scale, -float("inf"))
        new = tl.maximum(greatest, tl.max(scores, axis=1))
        p = tl.exp2(scores - new[:, None])
        correction = tl.exp2(greatest - new)
        total = total * correction + tl.sum(p, axis=1)
        acc = tl.dot(p.to(q.dtype), v, acc * correction[:, None])
        greatest = new
    if FINAL:
        tl.store(
            sums_ptr + head[:, None] * D + dims[None, :],
            acc / total[:, None],
            mask=(member < group)[:, None],
        )
    else:
        slot = head * parts + part
        tl.store(sums_ptr + slot[:, None] * D + dims[None, :], acc, mask=(member < group)[:, None])
        tl.store(stats_ptr + 2 * slot, greatest, mask=member < group)
        tl.store(stats_ptr + 2 * slot + 1, total, mask=member < group)


@triton.jit
def _combine_kernel(
    sums_ptr, stats_ptr, lengths_ptr, o_ptr, heads, parts, chunk, P: tl.constexpr, D: tl.constexpr
):
    head = tl.program_id(0)
    # Masks the parts past the sequence's end, for which the first kernel has stored nothing.
    used = tl.cdiv(tl.load(lengths_ptr + head // heads), chunk)
    part = tl.arange(0, P)
    dims = tl.arange(0, D)
    slot = head * parts + part
    greatest = tl.load(stats_ptr + 2 * slot, mask=part < used, other=-float("inf"))
    total = tl.load(stats_ptr + 2 * slot + 1, mask=part < used, other=0.0)
    weight = tl.exp2(greatest - tl.max(greatest, axis=0))
    sums = tl.load(
        sums_ptr + slot[:, None] * D + dims[None, :], mask=(part < used)[:, None], other=0.0
    )
    tl.store(
        o_ptr + head * D + dims,
        tl.sum(sums * weight[:, None], axis=0) / tl.sum(total * weight, axis=0),
    )


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has 64 KiB of shared memory, which is enough for one
    block of keys and values. The next block waits in registers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def paged_attn_decode(
    q: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    block_table: torch.Tensor,
    lengths: torch.Tensor,
) -> torch.Tensor:
    batch, heads, dim = q.shape
    page, kv_heads = k_cache.shape[1], k_cache.shape[2]
    max_pages = block_table.shape[1]
    capacity = max_pages * page
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    bn = 64
    # Each part has at least 128 keys. With shorter parts, combining the results would cost more
    # time than the additional programs save.
    wanted = max(1, min(PROGRAMS // (batch * kv_heads), triton.cdiv(capacity, 128)))
    chunk = triton.cdiv(triton.cdiv(capacity, wanted), bn) * bn
    parts = triton.cdiv(capacity, chunk)
    final = parts == 1
    sums = (
        o
        if final
        else torch.empty((batch * heads, parts, dim), dtype=torch.float32, device=q.device)
    )
    stats = (
        o if final else torch.empty((batch * heads, parts, 2), dtype=torch.float32, device=q.device)
    )
    scale = dim**-0.5 * 1.4426950408889634
    _parts_kernel[(parts, kv_heads, batch)](
        q,
        k_cache,
        v_cache,
        block_table,
        lengths,
        sums,
        stats,
        max_pages,
        kv_heads,
        heads // kv_heads,
        parts,
        chunk,
        scale,
        PAGE=page,
        BH=16,
        BN=bn,
        D=dim,
        FINAL=final,
        num_warps=4,
        num_stages=3
        if _is_amd()
        else 5,  # The pipeline has stages for both the lookup of pages and the load of keys.
    )
    if not final:
        grid = (batch * heads,)
        _combine_kernel[grid](
            sums,
            stats,
            lengths,
            o,
            heads,
            parts,
            chunk,
            P=triton.next_power_of_2(parts),
            D=dim,
            num_warps=4,
        )
    return o
