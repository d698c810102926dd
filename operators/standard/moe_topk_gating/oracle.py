"""Each program computes the top-k gating of a few tokens, with their logits in registers. It reads
the logits once. A bitonic network keeps the best eight logits.

Compare-exchanges dominate the cost, so each is one minimum or maximum of integer keys. A key
consists of the logit's distance from the row's maximum and of the expert's number, which replaces
the distance's last bits. The bits of a distance are ordered like integers, so keys are ordered by
logit and then by expert. Different logits differ by at least 0.0009 (a promise of the task). For
distances below LIMIT, the keys of different logits therefore differ too. If a chosen logit has a
larger distance, which is rare, a second method compares whole logits for that tile. Only the k
chosen logits are exponentiated, because the denominator of the softmax cancels when the weights are
renormalised."""

import torch
import triton
import triton.language as tl

FAR: tl.constexpr = tl.constexpr(0x7FFFFFFF)


@triton.jit
def _ordered(bits):
    """Converts a float's bits to an integer with the same order, or such an integer back to the
    bits."""
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@triton.jit
def _exact(
    logits,
    columns,
    slots,
    K: tl.constexpr,
    SLOTS: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_E: tl.constexpr,
):
    # Adding zero turns -0.0 into 0.0, so that equal values have equal bits.
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
def _side(N: tl.constexpr, BIT: tl.constexpr):
    """Returns a tensor with the value of bit BIT of each key's position in its row. The tensor has
    a dimension of size 2 for this bit, and size 1 in all other dimensions."""
    return tl.reshape(tl.arange(0, 2), [1] * (N - BIT) + [2] + [1] * BIT)


@triton.jit
def _merge(h, N: tl.constexpr, STAGE: tl.constexpr):
    """Sorts each bitonic run of 2^STAGE keys in ascending order. Each row of `h` has 2^N keys, which
    are many such runs."""
    for i in tl.static_range(STAGE):
        other = h ^ tl.xor_sum(h, N - STAGE + 1 + i, True)
        h = tl.where(_side(N, STAGE - 1 - i) != 0, tl.maximum(h, other), tl.minimum(h, other))
    return h


@triton.jit
def _least_eight(keys, T: tl.constexpr, N: tl.constexpr):
    """Returns the 8 smallest of each row's 2^N keys in ascending order. First it sorts runs of 8
    keys. Then, from each pair of runs, it keeps the 8 smallest keys: of an ascending and a
    descending run, these are the minima of the keys at the same positions. A descending run is
    computed as an ascending run of complements."""
    h = tl.reshape(keys, [T] + [2] * N)
    h = _merge(h ^ -_side(N, 1), N, 1)
    h = _merge(h ^ -(_side(N, 1) ^ _side(N, 2)), N, 2)
    if N == 3:
        h = _merge(h ^ -_side(N, 2), N, 3)
    else:
        h = _merge(h ^ -(_side(N, 2) ^ _side(N, 3)), N, 3)
        for stage in tl.static_range(3, N):
            # Every second run contains complements. Converts them back, and then takes the minima
            # of each pair of runs.
            h = tl.min(h ^ -_side(N - stage + 3, 3), axis=N - stage + 3 - 3)
            if stage < N - 1:
                h = _merge(h ^ -_side(N - stage + 2, 3), N - stage + 2, 3)
            else:
                h = _merge(h, 3, 3)
    return tl.reshape(h, (T, 8))


@triton.jit
def _gating_kernel(
    logits_ptr,
    weights_ptr,
    indices_ptr,
    tokens,
    experts,
    K: tl.constexpr,
    LIMIT: tl.constexpr,
    BLOCK_T: tl.constexpr,
    LOG: tl.constexpr,
    PIECE: tl.constexpr,
):
    # A row is divided into pieces of 64 bytes. Four threads load a piece, 16 bytes each, and the
    # same four threads load all pieces of the row. So a warp of 32 threads loads eight rows at a
    # time.
    BLOCK_E: tl.constexpr = 1 << LOG
    rows = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    columns = (
        tl.arange(0, BLOCK_E // PIECE)[None, :, None] * PIECE + tl.arange(0, PIECE)[None, None, :]
    )
    mask = (rows < tokens)[:, None, None] & (columns < experts)
    at = rows.to(tl.int64)[:, None, None] * experts + columns
    logits = tl.load(logits_ptr + at, mask=mask, other=-float("inf"))
    greatest = tl.max(tl.max(logits, axis=1), axis=1)
    # Lanes past the end of a row get an infinite distance, and so do rows past the end.
    distance = tl.where(mask, greatest[:, None, None] - logits, float("inf"))
    keys = (distance.to(tl.int32, bitcast=True) & -BLOCK_E) | columns
    # Each key contains its column, so the keys may have any order within the row. The last
    # dimension contains a thread's own keys.
    keys = tl.permute(tl.reshape(keys, (BLOCK_T, BLOCK_E // PIECE, PIECE // 4, 4)), (0, 2, 1, 3))
    chosen = _least_eight(tl.reshape(keys, (BLOCK_T, BLOCK_E)), BLOCK_T, LOG)
    slots = tl.arange(0, 8)
    indices = chosen & (BLOCK_E - 1)
    present = (rows < tokens)[:, None] & (slots < K)[None, :]
    values = tl.where(present, -(chosen & -BLOCK_E).to(tl.float32, bitcast=True), -3.0e38)
    if tl.min(tl.min(tl.where(present, values, 0.0), axis=1), axis=0) <= -LIMIT:
        every = tl.arange(0, BLOCK_E)
        known = (rows < tokens)[:, None] & (every < experts)[None, :]
        whole = tl.load(
            logits_ptr + rows.to(tl.int64)[:, None] * experts + every[None, :],
            mask=known,
            other=-float("inf"),
        )
        values, indices = _exact(whole, every, slots, K, 8, BLOCK_T, BLOCK_E)
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
    block_e = max(8, triton.next_power_of_2(experts))
    piece = min(16, block_e)
    warps = 2
    tile = max(1, min(8, 1024 // block_e)) * warps
    _gating_kernel[(triton.cdiv(tokens, tile),)](
        logits,
        weights,
        indices,
        tokens,
        experts,
        K=k,
        # A key keeps only the high bits of a distance. Below this limit, these bits distinguish
        # steps of 2^-11.
        LIMIT=8192.0 / block_e,
        BLOCK_T=tile,
        LOG=block_e.bit_length() - 1,
        PIECE=piece,
        num_warps=warps,
    )
    return weights, indices
