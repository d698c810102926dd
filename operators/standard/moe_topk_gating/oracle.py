"""Top-k gating with a few tokens per program and their logits in registers: k rounds of minimum and removal, one read of memory.

The rounds are what costs. A logit's distance below the row's greatest, whose bits are ordered like integers, gives its last bits away to
the expert's number: one minimum of integers, for which a warp has a single instruction, then finds logit and expert together, the lower
expert first. Distances below LIMIT still differ then where logits do (by at least 0.0009). In the rare tile in which a chosen one is further
off, a second form takes whole logits. Only the k chosen ones are exponentiated: the softmax's denominator cancels when weights are
renormalised.
"""

import torch
import triton
import triton.language as tl

FAR: tl.constexpr = tl.constexpr(0x7FFFFFFF)


@triton.jit
def _ordered(bits):
    """A float's bits as an integer of the same order, and back."""
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@triton.jit
def _exact(logits, columns, slots, K: tl.constexpr, SLOTS: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_E: tl.constexpr):
    # Adding zero makes -0.0 equal to 0.0 in bits too.
    keys = _ordered((logits + 0.0).to(tl.int32, bitcast=True))
    chosen = tl.full((BLOCK_T, SLOTS), -0x80000000, tl.int32)
    indices = tl.zeros((BLOCK_T, SLOTS), tl.int32)
    for i in tl.static_range(K):
        best = tl.max(keys, axis=1)
        at = tl.min(tl.where(keys == best[:, None], columns[None, :], BLOCK_E), axis=1)
        chosen = tl.where(slots[None, :] == i, best[:, None], chosen)
        indices = tl.where(slots[None, :] == i, at[:, None], indices)
        keys = tl.where(columns[None, :] == at[:, None], -0x80000000, keys)
    return _ordered(chosen).to(tl.float32, bitcast=True), indices


@triton.jit
def _gating_kernel(
    logits_ptr,
    weights_ptr,
    indices_ptr,
    tokens,
    experts,
    K: tl.constexpr,
    SLOTS: tl.constexpr,
    LIMIT: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_E: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    columns = tl.arange(0, BLOCK_E)
    slots = tl.arange(0, SLOTS)
    mask = (rows < tokens)[:, None] & (columns < experts)[None, :]
    logits = tl.load(logits_ptr + rows.to(tl.int64)[:, None] * experts + columns[None, :], mask=mask, other=-float("inf"))
    # Lanes behind the end of a row, and rows behind the end, are infinitely far off.
    distance = tl.where(mask, tl.max(logits, axis=1)[:, None] - logits, float("inf"))
    keys = (distance.to(tl.int32, bitcast=True) & -BLOCK_E) | columns[None, :]
    chosen = tl.full((BLOCK_T, SLOTS), FAR, tl.int32)
    for i in tl.static_range(K):
        best = tl.min(keys, axis=1)
        chosen = tl.where(slots[None, :] == i, best[:, None], chosen)
        keys = tl.where(keys == best[:, None], FAR, keys)
    indices = chosen & (BLOCK_E - 1)
    present = (rows < tokens)[:, None] & (slots < K)[None, :]
    values = tl.where(present, -(chosen & -BLOCK_E).to(tl.float32, bitcast=True), -3.0e38)
    if tl.min(tl.min(tl.where(present, values, 0.0), axis=1), axis=0) <= -LIMIT:
        values, indices = _exact(logits, columns, slots, K, SLOTS, BLOCK_T, BLOCK_E)
        values = tl.where(present, values, -3.0e38)
    weights = tl.exp(values - tl.max(values, axis=1)[:, None])
    weights = weights / tl.sum(weights, axis=1)[:, None]
    target = rows.to(tl.int64)[:, None] * K + slots[None, :]
    tl.store(weights_ptr + target, weights, mask=present)
    tl.store(indices_ptr + target, indices, mask=present)


def moe_topk_gating(logits: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    tokens, experts = logits.shape
    weights = torch.empty((tokens, k), dtype=torch.float32, device=logits.device)
    indices = torch.empty((tokens, k), dtype=torch.int32, device=logits.device)
    block_e = triton.next_power_of_2(experts)
    block_t = max(1, 1024 // block_e)
    _gating_kernel[(triton.cdiv(tokens, block_t),)](
        logits,
        weights,
        indices,
        tokens,
        experts,
        K=k,
        SLOTS=triton.next_power_of_2(k),
        LIMIT=8192.0 / block_e,  # of 23 bits, this many are left for a resolution of 2^-11
        BLOCK_T=block_t,
        BLOCK_E=block_e,
        num_warps=2,
    )
    return weights, indices
