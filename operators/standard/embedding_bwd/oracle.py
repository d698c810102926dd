"""The kernels gather instead of scattering. The first kernel makes, for every row of the table, a
short list of the tokens that use the row. Then one program for each row adds up the gradients of
these tokens and writes the sum once. So the gradient table need not be zeroed, read back or updated
by atomics. Atomics only assign the list positions, one per token.

If a row has more tokens than list positions, its program searches all indices for the row. That is
slow only for rows that occur many times as often as the others."""

import torch
import triton
import triton.language as tl

PLACES = 32
BLOCK_T = 4
BLOCK_D = 1024


@triton.jit
def _place_kernel(
    indices_ptr, counts_ptr, list_ptr, tokens, PLACES: tl.constexpr, BLOCK: tl.constexpr
):
    token = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(indices_ptr + token, mask=token < tokens, other=0)
    rank = tl.atomic_add(counts_ptr + index, 1, mask=token < tokens, sem="relaxed")
    tl.store(
        list_ptr + index.to(tl.int64) * PLACES + rank,
        token,
        mask=(token < tokens) & (rank < PLACES),
    )


@triton.jit
def _gather_kernel(
    dy_ptr,
    indices_ptr,
    counts_ptr,
    list_ptr,
    dw_ptr,
    tokens,
    dim,
    PLACES: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
    SCAN: tl.constexpr,
):
    blocks = tl.cdiv(dim, BLOCK_D)
    row = tl.program_id(0) // blocks
    columns = tl.program_id(0) % blocks * BLOCK_D + tl.arange(0, BLOCK_D)
    real = columns < dim
    named = tl.load(counts_ptr + row)
    acc = tl.zeros((BLOCK_T, BLOCK_D), tl.float32)
    lane = tl.arange(0, BLOCK_T)
    if named <= PLACES:
        for first in range(0, named, BLOCK_T):
            inside = first + lane < named
            token = tl.load(
                list_ptr + row.to(tl.int64) * PLACES + first + lane, mask=inside, other=0
            ).to(tl.int64)
            acc += tl.load(
                dy_ptr + token[:, None] * dim + columns[None, :],
                mask=inside[:, None] & real[None, :],
                other=0.0,
            )
    else:
        for block in range(0, tokens, SCAN):
            candidates = block + tl.arange(0, SCAN)
            if (
                tl.max(
                    (
                        tl.load(indices_ptr + candidates, mask=candidates < tokens, other=-1) == row
                    ).to(tl.int32),
                    axis=0,
                )
                > 0
            ):
                for first in range(block, block + SCAN, BLOCK_T):
                    token = first + lane
                    inside = tl.load(indices_ptr + token, mask=token < tokens, other=-1) == row
                    at = token.to(tl.int64)[:, None] * dim + columns[None, :]
                    acc += tl.load(dy_ptr + at, mask=inside[:, None] & real[None, :], other=0.0)
    tl.store(dw_ptr + row.to(tl.int64) * dim + columns, tl.sum(acc, axis=0), mask=real)


def embedding_bwd(dy: torch.Tensor, indices: torch.Tensor, vocab: int) -> torch.Tensor:
    tokens, dim = dy.shape
    dw = torch.empty((vocab, dim), dtype=torch.float32, device=dy.device)
    counts = torch.zeros((vocab,), dtype=torch.int32, device=dy.device)
    places = torch.empty((vocab, PLACES), dtype=torch.int32, device=dy.device)
    _place_kernel[(triton.cdiv(tokens, 256),)](
        indices, counts, places, tokens, PLACES=PLACES, BLOCK=256, num_warps=4
    )
    block_d = min(BLOCK_D, triton.next_power_of_2(dim))
    block_t = BLOCK_T if block_d >= 128 else 512 // block_d
    _gather_kernel[(vocab * triton.cdiv(dim, block_d),)](
        dy,
        indices,
        counts,
        places,
        dw,
        tokens,
        dim,
        PLACES=PLACES,
        BLOCK_T=block_t,
        BLOCK_D=block_d,
        SCAN=512,
        num_warps=max(1, block_d // 128),
    )
    return dw
