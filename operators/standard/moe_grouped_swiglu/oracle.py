"""The kernel computes a grouped GEMM with two accumulators, gate and up. Both use the same tiles of
x, and the activation is computed in registers.

The host does not know how many rows each expert has, so the grid is large enough for the worst case
of one partial tile per expert. Each program finds its expert from the offsets. Superfluous programs
return at once."""

import torch
import triton
import triton.language as tl


@triton.jit
def _grouped_kernel(
    x_ptr,
    offsets_ptr,
    gate_ptr,
    up_ptr,
    y_ptr,
    dim,
    hidden,
    experts,
    tiles_m,
    EXPERTS: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    # Consecutive programs compute a column of GROUP tiles, then the column to its right. So
    # programs that run at the same time mostly use the weights of the same expert, which stay in
    # the L2 cache.
    tiles_n = tl.cdiv(hidden, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + (program % (GROUP * tiles_n)) % height
    tile_n = (program % (GROUP * tiles_n)) // height

    lane = tl.arange(0, EXPERTS)
    firsts = tl.load(offsets_ptr + lane, mask=lane < experts, other=0)
    lasts = tl.load(offsets_ptr + lane + 1, mask=lane < experts, other=0)
    tiles = tl.cdiv(lasts - firsts, BM)
    ends = tl.cumsum(tiles, axis=0)
    expert = tl.sum((ends <= tile_m).to(tl.int32), axis=0)
    if expert >= experts:
        return
    mine = lane == expert
    end = tl.sum(tl.where(mine, lasts, 0), axis=0)
    start = tl.sum(tl.where(mine, firsts + (tile_m - ends + tiles) * BM, 0), axis=0)

    # Rows past the end repeat the last row, and columns past the end wrap around to the start, so
    # the loads need no mask. The results of these rows and columns are never stored.
    rows = start + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    x_tile = x_ptr + tl.minimum(rows, end - 1).to(tl.int64)[:, None] * dim + depth[None, :]
    matrix = expert.to(tl.int64) * dim * hidden
    weights = depth[:, None] * hidden + (columns % hidden)[None, :]
    gate_tile = gate_ptr + matrix + weights
    up_tile = up_ptr + matrix + weights
    gate = tl.zeros((BM, BN), tl.float32)
    up = tl.zeros((BM, BN), tl.float32)
    for first in range(0, dim, BK):
        if EVEN_K:
            x = tl.load(x_tile)
            w_gate = tl.load(gate_tile)
            w_up = tl.load(up_tile)
        else:
            x = tl.load(x_tile, mask=(first + depth)[None, :] < dim, other=0.0)
            w_gate = tl.load(gate_tile, mask=(first + depth)[:, None] < dim, other=0.0)
            w_up = tl.load(up_tile, mask=(first + depth)[:, None] < dim, other=0.0)
        gate = tl.dot(x, w_gate, gate)
        up = tl.dot(x, w_up, up)
        x_tile += BK
        gate_tile += BK * hidden
        up_tile += BK * hidden
    y = gate * tl.sigmoid(gate) * up
    target = y_ptr + rows.to(tl.int64)[:, None] * hidden + columns[None, :]
    tl.store(target, y.to(tl.float16), mask=(rows < end)[:, None] & (columns < hidden)[None, :])


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


def moe_grouped_swiglu(
    x: torch.Tensor, offsets: torch.Tensor, w_gate: torch.Tensor, w_up: torch.Tensor
) -> torch.Tensor:
    rows, dim = x.shape
    experts, _, hidden = w_gate.shape
    y = torch.empty((rows, hidden), dtype=x.dtype, device=x.device)
    # Two accumulators of 128 x 128 fill the registers of eight warps. If there are few rows per
    # expert, tiles with fewer rows waste less work.
    if rows >= 128 * experts and hidden >= 512:
        bm, bn, bk, warps, stages = 128, 128, 64, 8, 3
    elif rows >= 32 * experts:
        bm, bn, bk, warps, stages = 64, 64, 64, 4, 3
    else:
        bm, bn, bk, warps, stages = 16, 64, 64, 4, 4
    tiles_m = triton.cdiv(rows, bm) + experts
    _grouped_kernel[(tiles_m * triton.cdiv(hidden, bn),)](
        x,
        offsets,
        w_gate,
        w_up,
        y,
        dim,
        hidden,
        experts,
        tiles_m,
        EXPERTS=triton.next_power_of_2(experts),
        BM=bm,
        BN=bn,
        BK=bk,
        GROUP=8,
        EVEN_K=dim % bk == 0,
        num_warps=warps,
        num_stages=_stages(stages),
    )
    return y
