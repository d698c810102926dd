"""One launch computes the grouped GEMM without a table of tiles. Each group has at most one partial
tile, so programs for cdiv(total, BM) + groups tiles of rows are enough. Each program finds its
group by a prefix sum over all group sizes in registers. The few superfluous programs return at
once."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _grouped_kernel(
    x_ptr,
    w_ptr,
    offsets_ptr,
    y_ptr,
    groups,
    n,
    k,
    GROUPS: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    tiles_n = tl.cdiv(n, BN)
    tile = tl.program_id(0) // tiles_n
    tile_n = tl.program_id(0) % tiles_n
    lane = tl.arange(0, GROUPS)
    starts = tl.load(offsets_ptr + lane, mask=lane < groups, other=0)
    ends = tl.load(offsets_ptr + lane + 1, mask=lane < groups, other=0)
    tiles = tl.cdiv(ends - starts, BM)
    group = tl.sum((tl.cumsum(tiles, axis=0) <= tile).to(tl.int32), axis=0)
    if group < groups:
        tile_m = tile - tl.sum(tl.where(lane < group, tiles, 0), axis=0)
        start = tl.load(offsets_ptr + group)
        height = tl.load(offsets_ptr + group + 1) - start
        # Rows and columns past the end wrap around to the start, and these results are never
        # stored.
        local = tile_m * BM + tl.arange(0, BM)
        columns = tile_n * BN + tl.arange(0, BN)
        depth = tl.arange(0, BK)
        x_tile = x_ptr + (start + local % height).to(tl.int64)[:, None] * k + depth[None, :]
        w_tile = w_ptr + group.to(tl.int64) * k * n + depth[:, None] * n + (columns % n)[None, :]
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
            w_tile += BK * n
        y_tile = y_ptr + (start + local).to(tl.int64)[:, None] * n + columns[None, :]
        tl.store(
            y_tile, acc.to(tl.float16), mask=(local < height)[:, None] & (columns < n)[None, :]
        )


@triton.jit
def _tma_kernel(
    x_desc,
    w_desc,
    offsets_ptr,
    y_ptr,
    groups,
    n,
    k,
    GROUPS: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    tiles_n = tl.cdiv(n, BN)
    tile = tl.program_id(0) // tiles_n
    tile_n = tl.program_id(0) % tiles_n
    lane = tl.arange(0, GROUPS)
    starts = tl.load(offsets_ptr + lane, mask=lane < groups, other=0)
    ends = tl.load(offsets_ptr + lane + 1, mask=lane < groups, other=0)
    tiles = tl.cdiv(ends - starts, BM)
    group = tl.sum((tl.cumsum(tiles, axis=0) <= tile).to(tl.int32), axis=0)
    if group < groups:
        tile_m = tile - tl.sum(tl.where(lane < group, tiles, 0), axis=0)
        start = tl.load(offsets_ptr + group)
        height = tl.load(offsets_ptr + group + 1) - start
        local = tile_m * BM + tl.arange(0, BM)
        columns = tile_n * BN + tl.arange(0, BN)
        top = start + tile_m * BM
        left = tile_n * BN
        deep = group * k
        acc = tl.zeros((BM, BN), tl.float32)
        # Rows of x past the end of a group belong to the next group, and their results are never
        # stored. Rows of w past k belong to the next group's matrix. They are finite, and the
        # matching entries of x are loaded as zero, so they add nothing.
        for first in range(0, k, BK):
            acc = tl.dot(x_desc.load([top, first]), w_desc.load([deep + first, left]), acc)
        y_tile = y_ptr + (start + local).to(tl.int64)[:, None] * n + columns[None, :]
        tl.store(
            y_tile, acc.to(tl.float16), mask=(local < height)[:, None] & (columns < n)[None, :]
        )


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


def _is_amd() -> bool:
    """Returns True on AMD GPUs. A tile of 128 x 256 needs more registers than 8 waves have."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def grouped_gemm(x: torch.Tensor, w: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    total, k = x.shape
    groups, _, n = w.shape
    y = torch.empty((total, n), dtype=x.dtype, device=x.device)
    # The tile height depends on the average group size, because a tile that has more rows than its
    # group wastes work.
    average = total // groups
    if average >= 512 and n >= 1024:
        bm, bn, bk, warps, stages = 128, 128 if _is_amd() else 256, 64, 8, 3
    elif average >= 64:
        bm, bn, bk, warps, stages = 64, 128, 64, 4, 4
    else:
        bm, bn, bk, warps, stages = 16, 64, 128, 4, 4
    grid = ((triton.cdiv(total, bm) + groups) * triton.cdiv(n, bn),)
    block = triton.next_power_of_2(groups)
    if bn == 256 and k % 8 == 0 and n % 8 == 0:
        x_desc = TensorDescriptor.from_tensor(x, [bm, bk])
        w_desc = TensorDescriptor.from_tensor(w.view(groups * k, n), [bk, bn])
        _tma_kernel[grid](
            x_desc,
            w_desc,
            offsets,
            y,
            groups,
            n,
            k,
            GROUPS=block,
            BM=bm,
            BN=bn,
            BK=bk,
            num_warps=warps,
            num_stages=4,
        )
        return y
    _grouped_kernel[grid](
        x,
        w,
        offsets,
        y,
        groups,
        n,
        k,
        GROUPS=block,
        BM=bm,
        BN=bn,
        BK=bk,
        EVEN_K=k % bk == 0,
        num_warps=warps,
        num_stages=_stages(stages),
    )
    return y
