"""One kernel hashes and gathers. Each program computes one row and a slice of dim, and gathers many
table rows at a time.

Latency limits the gathers, so a tile contains as many trigrams as fit in registers. The program
sums over the trigrams of its tile only once, at the end. If there are few rows, each row is split
over several programs, and a second kernel adds their partial sums in a fixed order. The slices are
narrow, and the slice index changes slowest from program to program. So programs that run at the
same time use the same narrow part of the table, and this part fits in the L2 cache. Every slice
computes the hashes again, because hashes are cheap."""

import torch
import triton
import triton.language as tl

BASE: tl.constexpr = tl.constexpr(1000003)
PROGRAMS = 1024  # several programs for each SM of the largest GPU


@triton.jit
def _bag_kernel(
    tokens_ptr,
    lengths_ptr,
    table_ptr,
    out_ptr,
    seq,
    buckets,
    dim,
    share,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
    SPLIT: tl.constexpr,
):
    row = tl.program_id(0)
    part = tl.program_id(2)
    columns = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    count = tl.maximum(tl.load(lengths_ptr + row) - 2, 0)
    token_row = tokens_ptr + row.to(tl.int64) * seq
    lane = tl.arange(0, BLOCK_T)
    acc = tl.zeros((BLOCK_T, BLOCK_D), tl.float32)
    for first in range(part * share, tl.minimum(count, (part + 1) * share), BLOCK_T):
        at = first + lane
        mask = at < tl.minimum(count, (part + 1) * share)
        hashed = tl.load(token_row + at, mask=mask, other=0).to(tl.uint32)
        hashed = hashed * BASE + tl.load(token_row + at + 1, mask=mask, other=0).to(tl.uint32)
        hashed = hashed * BASE + tl.load(token_row + at + 2, mask=mask, other=0).to(tl.uint32)
        # After the shift the value is below 2^31, so the signed and the unsigned remainder are
        # equal.
        bucket = (hashed >> 1).to(tl.int32) % buckets
        sign = 1.0 - 2.0 * (hashed & 1).to(tl.float32)
        inside = mask[:, None] & (columns < dim)[None, :]
        entry = tl.load(
            table_ptr + bucket.to(tl.int64)[:, None] * dim + columns[None, :],
            mask=inside,
            other=0.0,
        )
        acc += sign[:, None] * entry.to(tl.float32)
    mean = tl.sum(acc, axis=0) / tl.maximum(count, 1).to(tl.float32)
    slot = row * SPLIT + part
    tl.store(out_ptr + slot.to(tl.int64) * dim + columns, mean, mask=columns < dim)


@triton.jit
def _add_kernel(shares_ptr, out_ptr, dim, SPLIT: tl.constexpr, BLOCK_D: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    parts = tl.arange(0, SPLIT)
    shares = shares_ptr + (row * SPLIT + parts[:, None]) * dim + columns[None, :]
    total = tl.sum(tl.load(shares, mask=(columns < dim)[None, :], other=0.0), axis=0)
    tl.store(out_ptr + row * dim + columns, total, mask=columns < dim)


def ngram_hash_signed_bag(
    tokens: torch.Tensor, lengths: torch.Tensor, table: torch.Tensor
) -> torch.Tensor:
    rows, seq = tokens.shape
    buckets, dim = table.shape
    out = torch.empty((rows, dim), dtype=torch.float32, device=table.device)
    block_d = min(64, triton.next_power_of_2(dim))
    slices = triton.cdiv(dim, block_d)
    block_t = min(max(1, 2048 // block_d), triton.next_power_of_2(seq))
    # Splits only rows that consist of several tiles.
    split = 1
    while split < 64 and rows * slices * split < PROGRAMS and split * block_t * 4 < seq:
        split *= 2
    share = triton.cdiv(seq, split)
    target = (
        out
        if split == 1
        else torch.empty((rows, split, dim), dtype=torch.float32, device=table.device)
    )
    _bag_kernel[(rows, slices, split)](
        tokens,
        lengths,
        table,
        target,
        seq,
        buckets,
        dim,
        share,
        BLOCK_T=block_t,
        BLOCK_D=block_d,
        SPLIT=split,
        num_warps=4,
    )
    if split > 1:
        _add_kernel[(rows, slices)](target, out, dim, SPLIT=split, BLOCK_D=block_d, num_warps=4)
    return out
