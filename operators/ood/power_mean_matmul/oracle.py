"""The kernels compute a matrix product of cubes on tensor cores, without overflow.

Since |a b|^3 = |a|^3 |b|^3, the operator is a matrix product of cubes. Small kernels scale each row
of a and each column of b to a largest magnitude of 1, so that nothing overflows. They cube the
values and split every cube into a TF32 part and its exact remainder. Three TF32 products are as
exact as one float32 product. All terms are positive and tensor cores round towards zero, so long
sums would be too small. Therefore each block of k has its own sum, and these sums are added in
float32."""

import torch
import triton
import triton.language as tl


@triton.jit
def _store_split(high_ptr, low_ptr, x, mask):
    # The mask keeps the 10 mantissa bits of TF32.
    high = (x.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)
    tl.store(high_ptr, high, mask=mask)
    tl.store(low_ptr, x - high, mask=mask)


@triton.jit
def _row_cubes_kernel(a_ptr, high_ptr, low_ptr, greatest_ptr, k, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start = row.to(tl.int64) * k
    lane = tl.arange(0, BLOCK)
    greatest = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, k, BLOCK):
        greatest = tl.maximum(
            greatest,
            tl.abs(tl.load(a_ptr + start + first + lane, mask=first + lane < k, other=0.0)),
        )
    top = tl.max(greatest, axis=0)
    tl.store(greatest_ptr + row, top)
    inverse = tl.div_rn(1.0, tl.where(top > 0.0, top, 1.0))
    for first in range(0, k, BLOCK):
        at = start + first + lane
        x = tl.abs(tl.load(a_ptr + at, mask=first + lane < k, other=0.0)) * inverse
        _store_split(high_ptr + at, low_ptr + at, x * x * x, first + lane < k)


@triton.jit
def _column_max_kernel(b_ptr, greatest_ptr, k, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(0) * COLS + tl.arange(0, COLS)
    mask = (rows < k)[:, None] & (columns < n)[None, :]
    x = tl.abs(
        tl.load(b_ptr + rows.to(tl.int64)[:, None] * n + columns[None, :], mask=mask, other=0.0)
    )
    # Non-negative floats have the same order as their bit patterns. So an atomic maximum of
    # integers finds the largest float.
    tl.atomic_max(
        greatest_ptr + columns,
        tl.max(x, axis=0).to(tl.int32, bitcast=True),
        mask=columns < n,
        sem="relaxed",
    )


@triton.jit
def _column_cubes_kernel(
    b_ptr, high_ptr, low_ptr, greatest_ptr, k, n, ROWS: tl.constexpr, COLS: tl.constexpr
):
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(0) * COLS + tl.arange(0, COLS)
    mask = (rows < k)[:, None] & (columns < n)[None, :]
    top = tl.load(greatest_ptr + columns, mask=columns < n, other=0).to(tl.float32, bitcast=True)
    inverse = tl.div_rn(1.0, tl.where(top > 0.0, top, 1.0))
    x = tl.load(b_ptr + rows.to(tl.int64)[:, None] * n + columns[None, :], mask=mask, other=0.0)
    x = tl.trans(tl.abs(x) * inverse[None, :])
    # Stores the result transposed, because TF32 operands of a warp-group product must be contiguous
    # along k.
    at = columns.to(tl.int64)[:, None] * k + rows[None, :]
    _store_split(
        high_ptr + at, low_ptr + at, x * x * x, (columns < n)[:, None] & (rows < k)[None, :]
    )


@triton.jit
def _matmul_kernel(
    a_high_ptr, a_low_ptr, b_high_ptr, b_low_ptr, row_ptr, column_ptr, c_ptr, m, n, k, inverse_k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, EVEN_K: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    tiles_m = tl.cdiv(m, BM)
    tiles_n = tl.cdiv(n, BN)
    program = tl.program_id(0)
    group = program // (GROUP * tiles_n)
    height = min(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + (program % (GROUP * tiles_n)) % height
    tile_n = (program % (GROUP * tiles_n)) // height

    rows = tile_m * BM + tl.arange(0, BM)
    columns = tile_n * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a_tile = (rows % m)[:, None] * k + depth[None, :]
    b_tile = (columns % n)[None, :] * k + depth[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        if EVEN_K:
            a_high = tl.load(a_high_ptr + a_tile + first)
            a_low = tl.load(a_low_ptr + a_tile + first)
            b_high = tl.load(b_high_ptr + b_tile + first)
            b_low = tl.load(b_low_ptr + b_tile + first)
        else:
            a_mask = (first + depth)[None, :] < k
            b_mask = (first + depth)[:, None] < k
            a_high = tl.load(a_high_ptr + a_tile + first, mask=a_mask, other=0.0)
            a_low = tl.load(a_low_ptr + a_tile + first, mask=a_mask, other=0.0)
            b_high = tl.load(b_high_ptr + b_tile + first, mask=b_mask, other=0.0)
            b_low = tl.load(b_low_ptr + b_tile + first, mask=b_mask, other=0.0)
        part = tl.dot(a_high, b_low, input_precision=PRECISION)
        part = tl.dot(a_low, b_high, part, input_precision=PRECISION)
        acc += tl.dot(a_high, b_high, part, input_precision=PRECISION)
    row_max = tl.load(row_ptr + rows, mask=rows < m, other=0.0)
    column_max = tl.load(column_ptr + columns, mask=columns < n, other=0).to(
        tl.float32, bitcast=True
    )
    mean = tl.maximum(acc * inverse_k, 1.0e-37)
    root = tl.where(acc > 0.0, tl.exp2(tl.log2(mean) * 0.3333333333333333), 0.0)
    out = c_ptr + rows.to(tl.int64)[:, None] * n + columns[None, :]
    tl.store(
        out,
        root * (row_max[:, None] * column_max[None, :]),
        mask=(rows < m)[:, None] & (columns < n)[None, :],
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


def _precision() -> str:
    """Returns the precision of products of float32 matrices. Of AMD's GPUs, only gfx942 has TF32;
    the others multiply float32 directly."""
    if triton.knobs.runtime.interpret:
        return "tf32"
    arch = triton.runtime.driver.active.get_current_target().arch
    return "tf32" if isinstance(arch, int) or arch == "gfx942" else "ieee"


def power_mean_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    m, k = a.shape
    n = b.shape[1]
    a_parts = torch.empty((2, m, k), dtype=torch.float32, device=a.device)
    b_parts = torch.empty((2, n, k), dtype=torch.float32, device=a.device)
    row_max = torch.empty((m,), dtype=torch.float32, device=a.device)
    column_max = torch.zeros((n,), dtype=torch.int32, device=a.device)
    c = torch.empty((m, n), dtype=torch.float32, device=a.device)
    grid_b = (triton.cdiv(n, 64), triton.cdiv(k, 64))
    _row_cubes_kernel[(m,)](
        a,
        a_parts[0],
        a_parts[1],
        row_max,
        k,
        BLOCK=min(2048, triton.next_power_of_2(k)),
        num_warps=4,
    )
    _column_max_kernel[grid_b](b, column_max, k, n, ROWS=64, COLS=64, num_warps=4)
    _column_cubes_kernel[grid_b](
        b, b_parts[0], b_parts[1], column_max, k, n, ROWS=64, COLS=64, num_warps=4
    )
    bm, bn, warps, stages = (128, 128, 8, 3) if m * n >= 1024 * 1024 else (64, 64, 4, 3)
    _matmul_kernel[(triton.cdiv(m, bm) * triton.cdiv(n, bn),)](
        a_parts[0], a_parts[1], b_parts[0], b_parts[1], row_max, column_max, c, m, n, k, 1.0 / k,
        BM=bm, BN=bn, BK=32, GROUP=8, EVEN_K=k % 32 == 0, PRECISION=_precision(), num_warps=warps, num_stages=_stages(stages),
    )  # fmt: skip
    return c
