"""Split-KV decoding: parts of the keys in one kernel, their combination by log-sum-exp in a second.

There is one query per head, so nothing for tensor cores to do: the kernel is a stream of keys and values. Each of the BN places of a block
keeps a maximum, a sum and a vector of its own, so that inside the loop only the dot product over head_dim crosses threads.
"""

import torch
import triton
import triton.language as tl

PROGRAMS = 1056  # eight for each SM of the largest part


@triton.jit
def _parts_kernel(q_ptr, k_ptr, v_ptr, sums_ptr, stats_ptr, seq, parts, chunk, scale, BN: tl.constexpr, D: tl.constexpr):
    part = tl.program_id(0)
    head = tl.program_id(1)
    dims = tl.arange(0, D)
    q = tl.load(q_ptr + head * D + dims).to(tl.float32) * scale
    base = head.to(tl.int64) * seq * D
    first = part * chunk
    last = min(first + chunk, seq)
    acc = tl.zeros((BN, D), tl.float32)
    total = tl.zeros((BN,), tl.float32)
    # A place may see no key at all: the finite start keeps it free of -inf - -inf.
    greatest = tl.full((BN,), -1.0e30, tl.float32)
    for start in tl.range(first, last, BN, num_stages=3):
        keys = start + tl.arange(0, BN)
        tile = base + keys[:, None] * D + dims[None, :]
        k = tl.load(k_ptr + tile, mask=(keys < last)[:, None], other=0.0)
        v = tl.load(v_ptr + tile, mask=(keys < last)[:, None], other=0.0)
        score = tl.where(keys < last, tl.sum(k.to(tl.float32) * q[None, :], axis=1), -float("inf"))
        new = tl.maximum(greatest, score)
        p = tl.exp2(score - new)
        correction = tl.exp2(greatest - new)
        total = total * correction + p
        acc = acc * correction[:, None] + p[:, None] * v.to(tl.float32)
        greatest = new
    top = tl.max(greatest, axis=0)
    weight = tl.exp2(greatest - top)
    slot = head * parts + part
    tl.store(sums_ptr + slot * D + dims, tl.sum(acc * weight[:, None], axis=0))
    tl.store(stats_ptr + 2 * slot, top)
    tl.store(stats_ptr + 2 * slot + 1, tl.sum(total * weight, axis=0))


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
    sums = tl.load(sums_ptr + slot[:, None] * D + dims[None, :], mask=(part < parts)[:, None], other=0.0)
    tl.store(o_ptr + head * D + dims, tl.sum(sums * weight[:, None], axis=0) / whole)
    # Back from base 2.
    tl.store(lse_ptr + head, (top + tl.log2(whole)) * 0.6931471805599453)


def flash_decode_splitkv(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    batch, heads, dim = q.shape
    seq = k.shape[2]
    o = torch.empty(q.shape, dtype=torch.float32, device=q.device)
    lse = torch.empty((batch, heads), dtype=torch.float32, device=q.device)
    bn = 32
    wanted = min(triton.cdiv(PROGRAMS, batch * heads), triton.cdiv(seq, 128), 256)
    chunk = triton.cdiv(triton.cdiv(seq, wanted), bn) * bn
    parts = triton.cdiv(seq, chunk)
    sums = torch.empty((batch * heads, parts, dim), dtype=torch.float32, device=q.device)
    stats = torch.empty((batch * heads, parts, 2), dtype=torch.float32, device=q.device)
    scale = dim**-0.5 * 1.4426950408889634
    _parts_kernel[(parts, batch * heads)](q, k, v, sums, stats, seq, parts, chunk, scale, BN=bn, D=dim, num_warps=4)
    _combine_kernel[(batch * heads,)](sums, stats, o, lse, parts, P=triton.next_power_of_2(parts), D=dim, num_warps=8)
    return o, lse
