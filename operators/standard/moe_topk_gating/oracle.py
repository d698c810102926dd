"""Top-k gating with a few tokens per program and their logits in registers: k rounds of maximum and removal, one read of memory. Only the
k chosen logits are exponentiated, since the softmax's denominator cancels when weights are renormalised."""

import torch
import triton
import triton.language as tl


@triton.jit
def _gating_kernel(
    logits_ptr,
    weights_ptr,
    indices_ptr,
    tokens,
    experts,
    K: tl.constexpr,
    SLOTS: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_E: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    columns = tl.arange(0, BLOCK_E)
    slots = tl.arange(0, SLOTS)
    mask = (rows < tokens)[:, None] & (columns < experts)[None, :]
    logits = tl.load(logits_ptr + rows.to(tl.int64)[:, None] * experts + columns[None, :], mask=mask, other=-float("inf"))
    chosen = tl.full((BLOCK_T, SLOTS), -float("inf"), tl.float32)
    indices = tl.zeros((BLOCK_T, SLOTS), tl.int32)
    greatest = tl.zeros((BLOCK_T,), tl.float32)
    for i in tl.static_range(K):
        # Equal logits: the reduction prefers the lower index.
        best, at = tl.max(logits, axis=1, return_indices=True)
        if i == 0:
            # Rows behind the end hold nothing but -inf; a finite maximum keeps them free of NaN.
            greatest = tl.maximum(best, -3.0e38)
        chosen = tl.where(slots[None, :] == i, best[:, None], chosen)
        indices = tl.where(slots[None, :] == i, at[:, None], indices)
        logits = tl.where(columns[None, :] == at[:, None], -float("inf"), logits)
    weights = tl.exp(chosen - greatest[:, None])
    weights = weights / tl.sum(weights, axis=1)[:, None]
    target = rows.to(tl.int64)[:, None] * K + slots[None, :]
    present = (rows < tokens)[:, None] & (slots < K)[None, :]
    tl.store(weights_ptr + target, weights, mask=present)
    tl.store(indices_ptr + target, indices, mask=present)


def moe_topk_gating(logits: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    tokens, experts = logits.shape
    weights = torch.empty((tokens, k), dtype=torch.float32, device=logits.device)
    indices = torch.empty((tokens, k), dtype=torch.int32, device=logits.device)
    block_e = triton.next_power_of_2(experts)
    block_t = max(1, 2048 // block_e)
    _gating_kernel[(triton.cdiv(tokens, block_t),)](
        logits, weights, indices, tokens, experts, K=k, SLOTS=triton.next_power_of_2(k), BLOCK_T=block_t, BLOCK_E=block_e, num_warps=4
    )
    return weights, indices
