"""Two kernels compute latent-attention decoding. The first kernel computes attention over parts of
the keys, and the second combines the results.

A block of the cache is loaded once and used twice: transposed for the scores, and unchanged for the
values. All heads read the same cache, so a program computes up to 64 heads. 64 rows are enough for
the tensor cores, and accumulators of 64 x 512 fill the registers of eight warps."""

import torch
import triton
import triton.language as tl

PROGRAMS = 132  # One program for each SM, because a program needs most of the shared memory.


@triton.jit
def _parts_kernel(
    q_ptr,
    cache_ptr,
    lengths_ptr,
    sums_ptr,
    stats_ptr,
    heads,
    capacity,
    parts,
    chunk,
    scale,
    BH: tl.constexpr,
    BN: tl.constexpr,
    FINAL: tl.constexpr,
):
    part = tl.program_id(0)
    batch = tl.program_id(2)
    first = part * chunk
    length = tl.load(lengths_ptr + batch)
    if first >= length:
        return
    last = min(first + chunk, length)
    member = tl.program_id(1) * BH + tl.arange(0, BH)
    mask = (member < heads)[:, None]
    head = batch * heads + member
    dims = tl.arange(0, 512)
    rotary = 512 + tl.arange(0, 64)
    q = tl.load(q_ptr + head[:, None] * 576 + dims[None, :], mask=mask, other=0.0)
    q_rotary = tl.load(q_ptr + head[:, None] * 576 + rotary[None, :], mask=mask, other=0.0)
    base = cache_ptr + batch.to(tl.int64) * capacity * 576
    acc = tl.zeros((BH, 512), tl.float32)
    total = tl.zeros((BH,), tl.float32)
    greatest = tl.full((BH,), -float("inf"), tl.float32)
    for start in range(first, last, BN):
        keys = start + tl.arange(0, BN)
        seen = keys < last
        latent = tl.load(base + keys[:, None] * 576 + dims[None, :], mask=seen[:, None], other=0.0)
        k_rotary = tl.load(
            base + keys[:, None] * 576 + rotary[None, :], mask=seen[:, None], other=0.0
        )
        scores = tl.dot(q, tl.trans(latent))
        scores = tl.dot(q_rotary, tl.trans(k_rotary), scores)
        scores = tl.where(seen[None, :], scores * scale, -float("inf"))
        new = tl.maximum(greatest, tl.max(scores, axis=1))
        p = tl.exp2(scores - new[:, None])
        correction = tl.exp2(greatest - new)
        total = total * correction + tl.sum(p, axis=1)
        acc = tl.dot(p.to(q.dtype), latent, acc * correction[:, None])
        greatest = new
    if FINAL:
        tl.store(sums_ptr + head[:, None] * 512 + dims[None, :], acc / total[:, None], mask=mask)
    else:
        slot = head * parts + part
        tl.store(sums_ptr + slot[:, None].to(tl.int64) * 512 + dims[None, :], acc, mask=mask)
        tl.store(stats_ptr + 2 * slot, greatest, mask=member < heads)
        tl.store(stats_ptr + 2 * slot + 1, total, mask=member < heads)


@triton.jit
def _combine_kernel(
    sums_ptr,
    stats_ptr,
    lengths_ptr,
    o_ptr,
    heads,
    parts,
    chunk,
    P: tl.constexpr,
    WIDTH: tl.constexpr,
):
    head = tl.program_id(0)
    # Masks the parts past the sequence's end, for which the first kernel has stored nothing.
    used = tl.cdiv(tl.load(lengths_ptr + head // heads), chunk)
    part = tl.arange(0, P)
    dims = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    slot = head * parts + part
    greatest = tl.load(stats_ptr + 2 * slot, mask=part < used, other=-float("inf"))
    total = tl.load(stats_ptr + 2 * slot + 1, mask=part < used, other=0.0)
    weight = tl.exp2(greatest - tl.max(greatest, axis=0))
    sums = tl.load(
        sums_ptr + slot[:, None].to(tl.int64) * 512 + dims[None, :],
        mask=(part < used)[:, None],
        other=0.0,
    )
    tl.store(
        o_ptr + head * 512 + dims,
        tl.sum(sums * weight[:, None], axis=0) / tl.sum(total * weight, axis=0),
    )


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has 64 KiB of shared memory, which is enough for one
    block of 32 keys. With blocks of 32 heads and 16 keys the accumulators stay in registers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def mla_decode(
    q: torch.Tensor, cache: torch.Tensor, lengths: torch.Tensor, scale: float
) -> torch.Tensor:
    batch, heads = q.shape[0], q.shape[1]
    capacity = cache.shape[1]
    o = torch.empty((batch, heads, 512), dtype=torch.float32, device=q.device)
    amd = _is_amd()
    bh = 16 if heads <= 16 else 32 if heads <= 32 or amd else 64
    bn = 16 if amd else 64
    tiles = triton.cdiv(heads, bh)
    # Each part has at least 128 keys. With shorter parts, combining the results would cost more
    # time than the additional programs save.
    wanted = max(1, min(PROGRAMS // (batch * tiles), triton.cdiv(capacity, 128)))
    chunk = triton.cdiv(triton.cdiv(capacity, wanted), bn) * bn
    parts = triton.cdiv(capacity, chunk)
    final = parts == 1
    sums = (
        o
        if final
        else torch.empty((batch * heads, parts, 512), dtype=torch.float32, device=q.device)
    )
    stats = (
        o if final else torch.empty((batch * heads, parts, 2), dtype=torch.float32, device=q.device)
    )
    _parts_kernel[(parts, tiles, batch)](
        q,
        cache,
        lengths,
        sums,
        stats,
        heads,
        capacity,
        parts,
        chunk,
        scale * 1.4426950408889634,
        BH=bh,
        BN=bn,
        FINAL=final,
        num_warps=8,
        num_stages=2,
    )
    if not final:
        grid = (batch * heads, 4)
        _combine_kernel[grid](
            sums,
            stats,
            lengths,
            o,
            heads,
            parts,
            chunk,
            P=triton.next_power_of_2(parts),
            WIDTH=128,
            num_warps=4,
        )
    return o
