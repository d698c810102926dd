"""The kernels compute a split-K GEMM. The inner axis k is divided among two programs per SM. Each
program reads its own slice of the operands and stores a partial product. A second kernel adds the
partial products in a fixed order, so the result always has the same bits. On Hopper, if c is one
tile, TMA loads the operands. TMA keeps long slices of the operands in flight without using
registers."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

WANTED_PROGRAMS = 264  # two programs for each SM of the largest GPU
TMA_PROGRAMS = 132  # one program for each SM of the largest GPU
TMA_BK = 128
TMA_STAGES = 4


@triton.jit
def _share_kernel(
    a_ptr,
    b_ptr,
    shares_ptr,
    m,
    n,
    k,
    chunk,
    tiles_n,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    split = tl.program_id(1)
    rows = tl.program_id(0) // tiles_n * BM + tl.arange(0, BM)
    columns = tl.program_id(0) % tiles_n * BN + tl.arange(0, BN)
    first = split * chunk
    end = min(first + chunk, k)
    depth = first + tl.arange(0, BK)
    a_tile = a_ptr + rows.to(tl.int64)[:, None] * k + depth[None, :]
    b_tile = b_ptr + depth.to(tl.int64)[:, None] * n + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(first, end, BK):
        left = end - start
        a = tl.load(
            a_tile, mask=(rows < m)[:, None] & (tl.arange(0, BK) < left)[None, :], other=0.0
        )
        b = tl.load(
            b_tile, mask=(tl.arange(0, BK) < left)[:, None] & (columns < n)[None, :], other=0.0
        )
        acc = tl.dot(a, b, acc)
        a_tile += BK
        b_tile += BK * n
    share = shares_ptr + split * m * n + rows[:, None] * n + columns[None, :]
    tl.store(share, acc, mask=(rows < m)[:, None] & (columns < n)[None, :])


@triton.jit
def _tma_kernel(
    a_desc,
    b_desc,
    shares_ptr,
    m,
    n,
    k,
    chunk,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    HOPPER: tl.constexpr,
):
    # This kernel is for a c of one tile. TMA loads the operands, so long slices are in flight
    # without work for the threads.
    if HOPPER:
        tl.extra.cuda.gdc_launch_dependents()
    split = tl.program_id(0)
    first = split * chunk
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(first, min(first + chunk, k), BK):
        acc = tl.dot(a_desc.load([0, start]), b_desc.load([start, 0]), acc)
    rows = tl.arange(0, BM)
    columns = tl.arange(0, BN)
    tl.store(
        shares_ptr + split * m * n + rows[:, None] * n + columns[None, :],
        acc,
        mask=(rows < m)[:, None] & (columns < n)[None, :],
    )


@triton.jit
def _sum_kernel(
    shares_ptr, c_ptr, size, splits, BLOCK: tl.constexpr, BS: tl.constexpr, HOPPER: tl.constexpr
):
    if HOPPER:
        tl.extra.cuda.gdc_wait()
    entries = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BS, BLOCK), tl.float32)
    for first in range(0, splits, BS):
        share = first + tl.arange(0, BS)
        mask = (share < splits)[:, None] & (entries < size)[None, :]
        acc += tl.load(shares_ptr + share[:, None] * size + entries[None, :], mask=mask, other=0.0)
    tl.store(c_ptr + entries, tl.sum(acc, axis=0), mask=entries < size)


def _is_hopper() -> bool:
    """Returns True on Hopper and newer GPUs. Only these GPUs can start a kernel early, before the
    previous kernel has ended. Other GPUs and the interpreter cannot."""
    if triton.knobs.runtime.interpret:
        return False
    target = triton.runtime.driver.active.get_current_target()
    return target.backend == "cuda" and target.arch >= 90


def split_k_gemm(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=torch.float32, device=a.device)
    bm = min(64, max(16, triton.next_power_of_2(m)))
    bn = min(128, max(16, triton.next_power_of_2(n)))
    if m <= 64 and m * n > 1024 and k % 8 == 0 and n % 8 == 0 and _is_hopper():
        bk = TMA_BK
        chunk = triton.cdiv(triton.cdiv(k, TMA_PROGRAMS), bk) * bk
        splits = triton.cdiv(k, chunk)
        shares = torch.empty((splits, m, n), dtype=torch.float32, device=a.device)
        a_desc = TensorDescriptor.from_tensor(a, [64, bk])
        b_desc = TensorDescriptor.from_tensor(b, [bk, bn])
        _tma_kernel[(splits,)](
            a_desc,
            b_desc,
            shares,
            m,
            n,
            k,
            chunk,
            BM=64,
            BN=bn,
            BK=bk,
            HOPPER=True,
            num_warps=4,
            num_stages=TMA_STAGES,
        )
        grid = (triton.cdiv(m * n, 32),)
        _sum_kernel[grid](
            shares, c, m * n, splits, BLOCK=32, BS=64, HOPPER=True, num_warps=4, launch_pdl=True
        )
        return c
    bk = 128
    tiles_n = triton.cdiv(n, bn)
    tiles = triton.cdiv(m, bm) * tiles_n
    # Each partial product has at least four steps. With fewer steps, storing and adding the partial
    # products would cost more time than the split saves.
    splits = max(1, min(WANTED_PROGRAMS // tiles, triton.cdiv(k, 4 * bk)))
    chunk = triton.cdiv(triton.cdiv(k, splits), bk) * bk
    splits = triton.cdiv(k, chunk)
    shares = torch.empty((splits, m, n), dtype=torch.float32, device=a.device)
    stages = 2 if bm + bn > 128 else 4
    _share_kernel[(tiles, splits)](
        a, b, shares, m, n, k, chunk, tiles_n, BM=bm, BN=bn, BK=bk, num_warps=4, num_stages=stages
    )
    _sum_kernel[(triton.cdiv(m * n, 32),)](
        shares, c, m * n, splits, BLOCK=32, BS=64, HOPPER=False, num_warps=4
    )
    return c
