"""The kernel computes a triangular GEMM. The program of a tile of c loops over the inner axis only
up to the tile's last row. The blocks left of the diagonal need no mask. The diagonal block has its
own loop. The tiles with the most steps (those of the last rows) start first, so that short tiles
fill the gaps at the end."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _triangular_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    n,
    cols,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
):
    tiles_m = tl.cdiv(n, BM)
    tiles_n = tl.cdiv(cols, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = tiles_m - 1 - group * GROUP - (program % (GROUP * tiles_n)) % height
    tile_n = (program % (GROUP * tiles_n)) // height
    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    # Rows and columns past the end wrap around to the start, and these results are never stored. A
    # wrapped row can contain a NaN, which affects only its own results.
    a_tile = a_ptr + (rows % n)[:, None] * n + depth[None, :]
    b_tile = b_ptr + depth[:, None] * cols + (columns % cols)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    # Computes the diagonal block first. Entries above the diagonal can be NaN, so multiplying them
    # by zero would not remove them: they are replaced by zero in registers. A mask in the load
    # would differ between neighbouring elements and split the 16-byte copies.
    for first in range(tile_m * BM, min(tile_m * BM + BM, n), BK):
        here = first + depth
        a = tl.load(a_tile + first, mask=(here < n)[None, :], other=0.0)
        b = tl.load(b_tile + first * cols, mask=(here < n)[:, None], other=0.0)
        acc = tl.dot(tl.where(here[None, :] <= rows[:, None], a, 0.0), b, acc)
    for _first in range(0, tile_m * BM, BK):
        acc = tl.dot(tl.load(a_tile), tl.load(b_tile), acc)
        a_tile += BK
        b_tile += BK * cols
    tl.store(
        c_ptr + rows[:, None] * cols + columns[None, :],
        acc.to(tl.float16),
        mask=(rows < n)[:, None] & (columns < cols)[None, :],
    )


@triton.jit
def _tma_kernel(
    a_square, b_square, a_desc, b_desc, c_ptr, n, cols, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):  # fmt: skip
    tiles_m = tl.cdiv(n, BM)
    tiles_n = tl.cdiv(cols, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    top = (tiles_m - 1 - group * GROUP - (program % (GROUP * tiles_n)) % height) * BM
    left = (program % (GROUP * tiles_n)) // height * BN
    rows = top + tl.arange(0, BM)
    # Computes the diagonal block first, in one step, and replaces its upper part in registers. TMA
    # supplies zeros past the end. A loop is not possible here: it would write the next step's a to
    # registers that the tensor cores still read for this step.
    a = a_square.load([top, top])
    b = b_square.load([top, left])
    acc = tl.dot(tl.where(tl.arange(0, BM)[None, :] <= tl.arange(0, BM)[:, None], a, 0.0), b)
    # After the barrier, no warp reads the shared memory of the diagonal block any more, so TMA may
    # fill it again.
    tl.debug_barrier()
    for first in range(0, top, BK):
        acc = tl.dot(a_desc.load([top, first]), b_desc.load([first, left]), acc)
    columns = left + tl.arange(0, BN)
    tl.store(
        c_ptr + rows[:, None] * cols + columns[None, :],
        acc.to(tl.float16),
        mask=(rows < n)[:, None] & (columns < cols)[None, :],
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
    """Returns True on AMD GPUs. An AMD GPU has no TMA, and a tile of 128 x 256 needs more registers than 8
    waves have, so the tiles are smaller and are loaded by pointers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def triangular_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    n, cols = b.shape
    c = torch.empty((n, cols), dtype=a.dtype, device=a.device)
    # BM is a multiple of BK, so the unmasked loop ends exactly at the diagonal block.
    if n * cols >= 2048 * 2048:
        bm, bn, bk, warps, stages = 128, 128 if _is_amd() else 256, 64, 8, 3
    elif n * cols >= 512 * 512:
        bm, bn, bk, warps, stages = 128, 64, 64, 4, 4
    else:
        bm, bn, bk, warps, stages = 64, 32, 64, 4, 4
    grid = (triton.cdiv(n, bm) * triton.cdiv(cols, bn),)
    if n * cols >= 2048 * 2048 and n % 8 == 0 and cols % 8 == 0 and not _is_amd():
        # If rows are multiples of 16 bytes, TMA loads whole tiles. TMA needs no pointers in
        # registers, and with TMA there is room for one pipeline stage more.
        a_desc = TensorDescriptor.from_tensor(a, [bm, bk])
        b_desc = TensorDescriptor.from_tensor(b, [bk, bn])
        a_square = TensorDescriptor.from_tensor(a, [bm, bm])
        b_square = TensorDescriptor.from_tensor(b, [bm, bn])
        _tma_kernel[grid](
            a_square,
            b_square,
            a_desc,
            b_desc,
            c,
            n,
            cols,
            BM=bm,
            BN=bn,
            BK=bk,
            GROUP=8,
            num_warps=warps,
            num_stages=3,
        )
        return c
    _triangular_kernel[grid](
        a, b, c, n, cols, BM=bm, BN=bn, BK=bk, GROUP=8, num_warps=warps, num_stages=_stages(stages)
    )
    return c
