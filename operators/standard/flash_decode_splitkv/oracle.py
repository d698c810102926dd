"""Two kernels compute split-KV decoding. The first kernel computes attention over parts of the
keys, and the second combines the results by log-sum-exp.

There is only one query per head, but tensor cores are still faster than ordinary arithmetic. Tensor
cores use keys and values directly in float16, while ordinary arithmetic would convert every element
and add across threads. The query is copied to all 16 rows of the smallest tensor-core tile. So
nothing is masked, and all rows contain the same result. There are as many programs as can run at
the same time. The keys are divided evenly among the programs, and each program streams its part
through a deep pipeline."""

import torch
import triton
import triton.language as tl

PROGRAMS = 132  # one program for each SM of the largest GPU
BN = 128
STAGES = 3
WARPS = 8


@triton.jit
def _parts_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    sums_ptr,
    stats_ptr,
    seq,
    parts,
    chunk,
    scale,
    BN: tl.constexpr,
    D: tl.constexpr,
    STAGES: tl.constexpr,
):
    part = tl.program_id(0)
    head = tl.program_id(1)
    dims = tl.arange(0, D)
    rows = tl.arange(0, 16)
    q = tl.load(q_ptr + head * D + dims[None, :] + 0 * rows[:, None])
    base = head.to(tl.int64) * seq * D
    first = part * chunk
    last = min(first + chunk, seq)
    lane = tl.arange(0, BN)
    acc = tl.zeros((16, D), tl.float32)
    total = tl.zeros((16,), tl.float32)
    greatest = tl.full((16,), -1.0e30, tl.float32)
    for start in tl.range(first, last, BN, num_stages=STAGES):
        keys = start + lane
        tile = base + keys[:, None] * D + dims[None, :]
        k = tl.load(k_ptr + tile, mask=(keys < last)[:, None], other=0.0)
        v = tl.load(v_ptr + tile, mask=(keys < last)[:, None], other=0.0)
        score = tl.where((keys < last)[None, :], tl.dot(q, tl.trans(k)) * scale, -float("inf"))
        new = tl.maximum(greatest, tl.max(score, axis=1))
        p = tl.exp2(score - new[:, None])
        correction = tl.exp2(greatest - new)
        total = total * correction + tl.sum(p, axis=1)
        acc = tl.dot(p.to(tl.float16), v, acc * correction[:, None])
        greatest = new
    slot = head * parts + part
    only = rows == 0
    tl.store(sums_ptr + slot * D + dims[None, :] + 0 * rows[:, None], acc, mask=only[:, None])
    tl.store(stats_ptr + 2 * slot + 0 * rows, greatest, mask=only)
    tl.store(stats_ptr + 2 * slot + 1 + 0 * rows, total, mask=only)


@triton.jit
def _combine_kernel(sums_ptr, stats_ptr, o_ptr, lse_ptr, parts, P: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0)
    part = tl.arange(0, P)
    dims = tl.arange(0, D)
    slot = head * parts + part
    greatest = tl.load(stats_ptr + 2 * slot, mask=part < parts, other=-float("inf"))
    total = tl.load(stats_ptr + 2 * slot + 1, mask=part < parts, other=0.0)
    top = tl.max(greatest, axis=0)
    weight = tl.exp2(greatest - top)
    whole = tl.sum(total * weight, axis=0)
    sums = tl.load(
        sums_ptr + slot[:, None] * D + dims[None, :], mask=(part < parts)[:, None], other=0.0
    )
    tl.store(o_ptr + head * D + dims, tl.sum(sums * weight[:, None], axis=0) / whole)
    # Converts log-sum-exp from base 2 to base e.
    tl.store(lse_ptr + head, (top + tl.log2(whole)) * 0.6931471805599453)


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has 64 KiB of shared memory, which is enough for one
    block of keys and values. The next block waits in registers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def flash_decode_splitkv(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    batch, heads, dim = q.shape
    seq = k.shape[2]
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    lse = torch.empty((batch, heads), dtype=torch.float32, device=q.device)
    wanted = min(max(PROGRAMS // (batch * heads), 1), triton.cdiv(seq, 128), 256)
    chunk = triton.cdiv(triton.cdiv(seq, wanted), BN) * BN
    parts = triton.cdiv(seq, chunk)
    sums = torch.empty((batch * heads, parts, dim), dtype=torch.float32, device=q.device)
    stats = torch.empty((batch * heads, parts, 2), dtype=torch.float32, device=q.device)
    scale = dim**-0.5 * 1.4426950408889634
    _parts_kernel[(parts, batch * heads)](
        q,
        k,
        v,
        sums,
        stats,
        seq,
        parts,
        chunk,
        scale,
        BN=BN,
        D=dim,
        STAGES=2 if _is_amd() else STAGES,
        num_warps=WARPS,
    )
    _combine_kernel[(batch * heads,)](
        sums, stats, o, lse, parts, P=triton.next_power_of_2(parts), D=dim, num_warps=8
    )
    return o, lse
