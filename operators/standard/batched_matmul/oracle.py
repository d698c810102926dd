"""The kernel computes a batched float16 GEMM. One grid axis covers the batch. Tiles of the same
matrix are next to each other, so that the matrix's operands stay in the L2 cache."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _batched_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    tiles,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    # The batch is part of grid axis 0, because the other axes allow at most 65535 programs.
    batch = (tl.program_id(0) // tiles).to(tl.int64)
    program = tl.program_id(0) % tiles
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + (program % (GROUP * tiles_n)) % height
    tile_n = (program % (GROUP * tiles_n)) // height

    # Rows and columns past the end wrap around to the start, so the loads need no mask. The results
    # of these rows and columns are never stored.
    rows = (tile_m * BM + tl.arange(0, BM)) % m
    columns = (tile_n * BN + tl.arange(0, BN)) % n
    depth = tl.arange(0, BK)
    a_tile = a_ptr + batch * m * k + rows[:, None] * k + depth[None, :]
    b_tile = b_ptr + batch * k * n + depth[:, None] * n + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        if EVEN_K:
            a = tl.load(a_tile)
            b = tl.load(b_tile)
        else:
            a = tl.load(a_tile, mask=(first + depth)[None, :] < k, other=0.0)
            b = tl.load(b_tile, mask=(first + depth)[:, None] < k, other=0.0)
        acc = tl.dot(a, b, acc)
        a_tile += BK
        b_tile += BK * n
    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    c_tile = c_ptr + batch * m * n + rows[:, None] * n + columns[None, :]
    tl.store(c_tile, acc.to(tl.float16), mask=(rows < m)[:, None] & (columns < n)[None, :])


@triton.jit
def _persistent_kernel(
    a_desc,
    b_desc,
    c_desc,
    total,
    m,
    n,
    k,
    tiles,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
):
    """Runs one program per multiprocessor. If k is small, the loads of the next tile must run while
    this tile is stored, and only a persistent program can do that."""
    tiles_m = m // BM
    tiles_n = n // BN
    for tile in tl.range(tl.program_id(0), total, tl.num_programs(0), flatten=True):
        batch = tile // tiles
        program = tile % tiles
        group = program // (GROUP * tiles_n)
        height = min(tiles_m - group * GROUP, GROUP)
        top = batch * m + (group * GROUP + (program % (GROUP * tiles_n)) % height) * BM
        left = (program % (GROUP * tiles_n)) // height * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for first in range(0, k, BK):
            acc = tl.dot(a_desc.load([top, first]), b_desc.load([batch * k + first, left]), acc)
        c_desc.store([top, left], acc.to(tl.float16))


def _is_amd() -> bool:
    """Returns True on AMD GPUs. An AMD GPU has no TMA, and a tile of 128 x 256 needs more registers than 8
    waves have, so the tiles are smaller and are loaded by pointers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def batched_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    batch, m, k = a.shape
    n = b.shape[2]
    c = torch.empty((batch, m, n), dtype=a.dtype, device=a.device)
    # The tile size depends on the size of one matrix, so that small matrices do not waste lanes. It
    # also depends on the number of tiles of the whole batch.
    if min(m, n) >= 256 and batch * m * n >= 2048 * 2048:
        bm, bn, bk, warps, stages = (128, 128, 64, 8, 2) if _is_amd() else (128, 256, 64, 8, 3)
    elif min(m, n) >= 128:
        bm, bn, bk, warps, stages = 128, 64, 64, 4, 4
    elif min(m, n) >= 48:
        bm, bn, bk, warps, stages = 64, 64, 64, 4, 4
    else:
        bm, bn, bk, warps, stages = 32, 32, 64, 2, 3
    tiles = triton.cdiv(m, bm) * triton.cdiv(n, bn)
    if bn == 256 and m % bm == 0 and n % bn == 0 and k % bk == 0:
        # A descriptor describes all matrices of the batch as one tall matrix, one below the other.
        # So this path needs tile sizes that divide m, n and k: otherwise a tile could contain rows
        # of two matrices.
        a_desc = TensorDescriptor.from_tensor(a.view(batch * m, k), [bm, bk])
        b_desc = TensorDescriptor.from_tensor(b.view(batch * k, n), [bk, bn])
        c_desc = TensorDescriptor.from_tensor(c.view(batch * m, n), [bm, bn])
        _persistent_kernel[(min(132, batch * tiles),)](
            a_desc,
            b_desc,
            c_desc,
            batch * tiles,
            m,
            n,
            k,
            tiles,
            BM=bm,
            BN=bn,
            BK=bk,
            GROUP=8,
            num_warps=warps,
            num_stages=3,
        )
        return c
    _batched_kernel[(batch * tiles,)](
        a,
        b,
        c,
        m,
        n,
        k,
        tiles,
        BM=bm,
        BN=bn,
        BK=bk,
        GROUP=8,
        EVEN_K=k % bk == 0,
        num_warps=warps,
        num_stages=stages,
    )
    return c
