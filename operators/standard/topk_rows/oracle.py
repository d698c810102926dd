"""Top k over 64-bit keys: the value's bits, in an order that integers share, above the complement of the column. One comparison then
settles value and tie together.

The k best entries lie in the k groups of neighbours whose maxima are best (an earlier group wins a tie, as an earlier column does). So long
rows are read once for the maxima of groups, and the costly bitonic selection sees only those and the entries of k groups.
"""

import torch
import triton
import triton.language as tl

GROUP = 32
LOWEST: tl.constexpr = tl.constexpr(-(2**63))


@triton.jit
def _keys(x, column, mask):
    bits = x.to(tl.int32, bitcast=True)
    ordered = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    key = (ordered.to(tl.int64) << 32) | (0xFFFFFFFF - column.to(tl.int64))
    return tl.where(mask, key, LOWEST)


@triton.jit
def _write(top, values_ptr, indices_ptr, row, rows, k, K: tl.constexpr):
    rank = tl.arange(0, K)[None, :]
    ordered = (top >> 32).to(tl.int32)
    bits = ordered ^ ((ordered >> 31) & 0x7FFFFFFF)
    mask = (row < rows) & (rank < k)
    at = row.to(tl.int64) * k + rank
    tl.store(values_ptr + at, bits.to(tl.float32, bitcast=True), mask=mask)
    tl.store(indices_ptr + at, (0xFFFFFFFF - (top & 0xFFFFFFFF)).to(tl.int32), mask=mask)


@triton.jit
def _short_kernel(x_ptr, values_ptr, indices_ptr, rows, cols, k, ROWS: tl.constexpr, BLOCK: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    mask = (row < rows) & (column < cols)
    x = tl.load(x_ptr + row.to(tl.int64) * cols + column, mask=mask, other=0.0)
    _write(tl.topk(_keys(x, column, mask), K), values_ptr, indices_ptr, row, rows, k, K)


@triton.jit
def _maxima_kernel(x_ptr, maxima_ptr, cols, groups, TILE: tl.constexpr, GROUP: tl.constexpr):
    row = tl.program_id(1).to(tl.int64)
    group = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = group[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    x = tl.load(x_ptr + row * cols + column, mask=column < cols, other=-float("inf"))
    tl.store(maxima_ptr + row * groups + group, tl.max(x, axis=1), mask=group < groups)


@triton.jit
def _select_kernel(
    x_ptr,
    maxima_ptr,
    values_ptr,
    indices_ptr,
    rows,
    cols,
    groups,
    k,
    BLOCK: tl.constexpr,
    K: tl.constexpr,
    GROUP: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    group = tl.arange(0, BLOCK)
    best = tl.load(maxima_ptr + row * groups + group, mask=group < groups, other=0.0)
    top = tl.topk(_keys(best, group, group < groups), K)
    column = (0xFFFFFFFF - (top & 0xFFFFFFFF))[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    # There may be fewer than K groups.
    mask = (top != LOWEST)[:, None] & (column < cols)
    x = tl.load(x_ptr + row * cols + column, mask=mask, other=0.0)
    keys = tl.reshape(_keys(x, column, mask), (1, K * GROUP))
    _write(tl.topk(keys, K), values_ptr, indices_ptr, row + tl.zeros((1, 1), tl.int64), rows, k, K)


def topk_rows(x: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    values = torch.empty((rows, k), dtype=torch.float32, device=x.device)
    indices = torch.empty((rows, k), dtype=torch.int32, device=x.device)
    width = max(2, triton.next_power_of_2(k))
    if cols <= 1024:
        block = max(width, triton.next_power_of_2(cols))
        tile = 1024 // block
        _short_kernel[(triton.cdiv(rows, tile),)](x, values, indices, rows, cols, k, ROWS=tile, BLOCK=block, K=width, num_warps=4)
        return values, indices
    groups = triton.cdiv(cols, GROUP)
    maxima = torch.empty((rows, groups), dtype=torch.float32, device=x.device)
    _maxima_kernel[(triton.cdiv(groups, 128), rows)](x, maxima, cols, groups, TILE=128, GROUP=GROUP, num_warps=4)
    # One block size for all but the longest rows: bitonic kernels are slow to compile.
    block = max(1024, triton.next_power_of_2(groups))
    _select_kernel[(rows,)](x, maxima, values, indices, rows, cols, groups, k, BLOCK=block, K=width, GROUP=GROUP, num_warps=4)
    return values, indices
