"""Gather instead of scatter: tokens are listed by their index, and each row of the table has one owner, which adds up the rows of its
tokens and writes the sum once; nothing of the table is zeroed, read back or added by atomics.

The lists take three small kernels. Tokens count themselves, which also gives each a rank among its equals; blocks of counts reserve room
for their lists (in whatever order they come, since lists need only be disjoint); and tokens put themselves into their lists.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _count_kernel(indices_ptr, counts_ptr, rank_ptr, tokens, BLOCK: tl.constexpr):
    token = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(indices_ptr + token, mask=token < tokens, other=0)
    rank = tl.atomic_add(counts_ptr + 1 + index, 1, mask=token < tokens, sem="relaxed")
    tl.store(rank_ptr + token, rank, mask=token < tokens)


@triton.jit
def _reserve_kernel(counts_ptr, start_ptr, vocab, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    count = tl.load(counts_ptr + 1 + row, mask=row < vocab, other=0)
    base = tl.atomic_add(counts_ptr, tl.sum(count, axis=0), sem="relaxed")
    tl.store(start_ptr + row, base + tl.cumsum(count, axis=0) - count, mask=row < vocab)


@triton.jit
def _place_kernel(indices_ptr, rank_ptr, start_ptr, list_ptr, tokens, BLOCK: tl.constexpr):
    token = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(indices_ptr + token, mask=token < tokens, other=0)
    start = tl.load(start_ptr + index, mask=token < tokens, other=0)
    rank = tl.load(rank_ptr + token, mask=token < tokens, other=0)
    tl.store(list_ptr + start + rank, token, mask=token < tokens)


@triton.jit
def _gather_kernel(dy_ptr, list_ptr, start_ptr, counts_ptr, dw_ptr, dim, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    start = tl.load(start_ptr + row)
    end = start + tl.load(counts_ptr + 1 + row)
    lane = tl.arange(0, BLOCK_T)
    acc = tl.zeros((BLOCK_T, BLOCK_D), tl.float32)
    for first in range(start, end, BLOCK_T):
        inside = first + lane < end
        token = tl.load(list_ptr + first + lane, mask=inside, other=0).to(tl.int64)
        acc += tl.load(dy_ptr + token[:, None] * dim + columns[None, :], mask=inside[:, None] & (columns < dim)[None, :], other=0.0)
    tl.store(dw_ptr + row.to(tl.int64) * dim + columns, tl.sum(acc, axis=0), mask=columns < dim)


def embedding_bwd(dy: torch.Tensor, indices: torch.Tensor, vocab: int) -> torch.Tensor:
    tokens, dim = dy.shape
    dw = torch.empty((vocab, dim), dtype=torch.float32, device=dy.device)
    # counts[0] is how much of the list is reserved.
    counts = torch.zeros((vocab + 1,), dtype=torch.int32, device=dy.device)
    start = torch.empty((vocab,), dtype=torch.int32, device=dy.device)
    rank, listed = torch.empty((2, tokens), dtype=torch.int32, device=dy.device)
    _count_kernel[(triton.cdiv(tokens, 256),)](indices, counts, rank, tokens, BLOCK=256, num_warps=4)
    _reserve_kernel[(triton.cdiv(vocab, 512),)](counts, start, vocab, BLOCK=512, num_warps=4)
    _place_kernel[(triton.cdiv(tokens, 256),)](indices, rank, start, listed, tokens, BLOCK=256, num_warps=4)
    block_d = min(128, triton.next_power_of_2(dim))
    block_t = min(64, max(8, 1024 // block_d))
    _gather_kernel[(vocab, triton.cdiv(dim, block_d))](dy, listed, start, counts, dw, dim, BLOCK_T=block_t, BLOCK_D=block_d, num_warps=1)
    return dw
