"""The kernels compute a linear layer and its cross entropy without storing the logits.

The first kernel is a GEMM. It reduces each tile to one maximum and one sum of exponentials per
token. For the tile that contains a token's target it also writes the target's logit. The second
kernel combines the tiles of each token, and the third kernel adds up the losses of the tokens. The
second and third kernels add in a fixed order."""

import torch
import triton
import triton.language as tl


@triton.jit
def _tile_kernel(
    x_ptr,
    w_ptr,
    targets_ptr,
    top_ptr,
    sum_ptr,
    picked_ptr,
    tokens,
    vocab,
    k,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    # Programs that run at the same time compute GROUP tiles of tokens, so that a slice of w is read
    # from memory once for all these tiles.
    tiles_m = tl.cdiv(tokens, BM)
    tiles_n = tl.cdiv(vocab, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + (program % (GROUP * tiles_n)) % height
    tile_n = (program % (GROUP * tiles_n)) // height

    rows = tile_m * BM + tl.arange(0, BM)
    words = tile_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    # Tokens and words past the end wrap around to the start here. The results of these tokens and
    # words are masked below.
    x_tile = x_ptr + (rows % tokens)[:, None] * k + depth[None, :]
    w_tile = w_ptr + (words % vocab).to(tl.int64)[None, :] * k + depth[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        if EVEN_K:
            x = tl.load(x_tile)
            w = tl.load(w_tile)
        else:
            x = tl.load(x_tile, mask=(first + depth)[None, :] < k, other=0.0)
            w = tl.load(w_tile, mask=(first + depth)[:, None] < k, other=0.0)
        acc = tl.dot(x, w, acc)
        x_tile += BK
        w_tile += BK
    inside = rows < tokens
    target = tl.load(targets_ptr + rows, mask=inside, other=-1)
    picked = tl.sum(tl.where(words[None, :] == target[:, None], acc, 0.0), axis=1)
    tl.store(
        picked_ptr + rows,
        picked,
        mask=inside & (target >= tile_n * BN) & (target < tile_n * BN + BN),
    )
    acc = tl.where((words < vocab)[None, :], acc, -float("inf"))
    top = tl.max(acc, axis=1)
    tl.store(top_ptr + tile_n * tokens + rows, top, mask=inside)
    tl.store(
        sum_ptr + tile_n * tokens + rows, tl.sum(tl.exp(acc - top[:, None]), axis=1), mask=inside
    )


@triton.jit
def _token_kernel(
    top_ptr, sum_ptr, picked_ptr, shares_ptr, tokens, tiles, BT: tl.constexpr, BS: tl.constexpr
):
    rows = tl.program_id(0) * BT + tl.arange(0, BT)
    greatest = tl.full((BS, BT), -3.0e38, tl.float32)
    total = tl.zeros((BS, BT), tl.float32)
    for first in range(0, tiles, BS):
        tile = first + tl.arange(0, BS)
        place = tile[:, None] * tokens + rows[None, :]
        mask = (tile < tiles)[:, None] & (rows < tokens)[None, :]
        top = tl.load(top_ptr + place, mask=mask, other=-float("inf"))
        part = tl.load(sum_ptr + place, mask=mask, other=0.0)
        new = tl.maximum(greatest, top)
        total = total * tl.exp(greatest - new) + part * tl.exp(top - new)
        greatest = new
    top = tl.max(greatest, axis=0)
    lse = top + tl.log(tl.sum(total * tl.exp(greatest - top[None, :]), axis=0))
    loss = tl.where(
        rows < tokens, lse - tl.load(picked_ptr + rows, mask=rows < tokens, other=0.0), 0.0
    )
    tl.store(shares_ptr + tl.program_id(0), tl.sum(loss, axis=0))


@triton.jit
def _mean_kernel(shares_ptr, loss_ptr, count, tokens, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, count, BLOCK):
        total += tl.load(shares_ptr + first + lane, mask=first + lane < count, other=0.0)
    tl.store(loss_ptr, tl.sum(total, axis=0) / tokens)


def _stages(most: int) -> int:
    """Returns the number of pipeline stages: `most` in general, and at most two on AMD GPUs. An AMD
    GPU has 64 KiB of shared memory, which is enough for the tiles of one step only. With two stages
    the loads run one step ahead, and the loaded values wait in registers."""
    if (
        triton.knobs.runtime.interpret
        or triton.runtime.driver.active.get_current_target().backend != "hip"
    ):
        return most
    return min(most, 2)


def fused_linear_cross_entropy(
    x: torch.Tensor, w: torch.Tensor, targets: torch.Tensor
) -> torch.Tensor:
    tokens, k = x.shape
    vocab = w.shape[0]
    if tokens * vocab >= 2048 * 2048:
        bm, bn, bk, warps, stages = 128, 256, 64, 8, 3
    elif tokens <= 16:
        bm, bn, bk, warps, stages = 16, 64, 128, 4, 4
    else:
        bm, bn, bk, warps, stages = 64, 64, 64, 4, 4
    tiles = triton.cdiv(vocab, bn)
    blocks = triton.cdiv(tokens, 16)
    top = torch.empty((tiles, tokens), dtype=torch.float32, device=x.device)
    total = torch.empty((tiles, tokens), dtype=torch.float32, device=x.device)
    picked = torch.empty((tokens,), dtype=torch.float32, device=x.device)
    shares = torch.empty((blocks,), dtype=torch.float32, device=x.device)
    loss = torch.empty((1,), dtype=torch.float32, device=x.device)
    grid = (triton.cdiv(tokens, bm) * tiles,)
    even = k % bk == 0
    _tile_kernel[grid](
        x, w, targets, top, total, picked, tokens, vocab, k,
        BM=bm, BN=bn, BK=bk, GROUP=16, EVEN_K=even, num_warps=warps, num_stages=_stages(stages),
    )  # fmt: skip
    _token_kernel[(blocks,)](top, total, picked, shares, tokens, tiles, BT=16, BS=32, num_warps=4)
    _mean_kernel[(1,)](shares, loss, blocks, tokens, BLOCK=256, num_warps=4)
    return loss
