"""Each program computes the weighted gather-sum of one token (or of a few tokens, if rows are
narrow) for a block of columns. The loop over k is unrolled, so that all k rows are in flight at
once."""

import torch
import triton
import triton.language as tl


@triton.jit
def _combine_kernel(
    expert_out_ptr,
    places_ptr,
    weights_ptr,
    y_ptr,
    tokens,
    dim,
    K: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    rows = (tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)).to(tl.int64)
    columns = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    inside = rows < tokens
    total = tl.zeros((BLOCK_T, BLOCK_D), tl.float32)
    for j in tl.static_range(K):
        place = tl.load(places_ptr + rows * K + j, mask=inside, other=-1).to(tl.int64)
        weight = tl.load(weights_ptr + rows * K + j, mask=inside, other=0.0)
        present = (place >= 0)[:, None] & (columns < dim)[None, :]
        values = tl.load(
            expert_out_ptr + place[:, None] * dim + columns[None, :], mask=present, other=0.0
        )
        total += weight[:, None] * values.to(tl.float32)
    mask = inside[:, None] & (columns < dim)[None, :]
    tl.store(y_ptr + rows[:, None] * dim + columns[None, :], total.to(tl.float16), mask=mask)


def moe_unpermute_combine(
    expert_out: torch.Tensor, places: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    tokens, k = places.shape
    dim = expert_out.shape[1]
    y = torch.empty((tokens, dim), dtype=expert_out.dtype, device=expert_out.device)
    block_d = min(1024, triton.next_power_of_2(dim))
    block_t = max(1, 1024 // block_d)
    grid = (triton.cdiv(tokens, block_t), triton.cdiv(dim, block_d))
    _combine_kernel[grid](
        expert_out,
        places,
        weights,
        y,
        tokens,
        dim,
        K=k,
        BLOCK_T=block_t,
        BLOCK_D=block_d,
        num_warps=4,
    )
    return y
