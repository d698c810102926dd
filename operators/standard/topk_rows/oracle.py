"""The kernels find the top k by 64-bit keys. The high bits of a key are the value's bits, converted
so that integers have the same order as the values. The low bits are the complement of the column.
So one comparison orders both values and ties.

The kernel reads a long row once and computes the maximum of each group of neighbours. The k-th
largest of these maxima is a bound: entries below the bound cannot be among the k largest. The
kernel finds the bound bit by bit, by counting. Usually not many more than k entries reach the
bound. The kernel collects and sorts only these entries. If too many entries reach the bound
(because they are equal), the kernel chooses the k groups with the largest maxima, earlier groups
first, and selects among all entries of these groups. One program computes a whole row, so one
launch is enough. The rows that run at the same time keep the memory busy."""

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
def _short_kernel(
    x_ptr,
    values_ptr,
    indices_ptr,
    rows,
    cols,
    k,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    K: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    mask = (row < rows) & (column < cols)
    x = tl.load(x_ptr + row.to(tl.int64) * cols + column, mask=mask, other=0.0)
    _write(tl.topk(_keys(x, column, mask), K), values_ptr, indices_ptr, row, rows, k, K)


@triton.jit
def _unsigned(x):
    """Converts a float's bits to an unsigned integer with the same order."""
    bits = x.to(tl.int32, bitcast=True)
    return (bits ^ ((bits >> 31) | -0x80000000)).to(tl.uint32, bitcast=True)


@triton.jit
def _select(
    x_ptr,
    maxima_ptr,
    scratch_ptr,
    values_ptr,
    indices_ptr,
    row,
    rows,
    cols,
    groups,
    k,
    BLOCK: tl.constexpr,
    K: tl.constexpr,
    GROUP: tl.constexpr,
):
    group = tl.arange(0, BLOCK)
    best = tl.load(maxima_ptr + row * groups + group, mask=group < groups, other=0.0)
    order = tl.where(group < groups, _unsigned(best), 0)
    bound = tl.zeros((), tl.uint32)
    for i in tl.static_range(32):
        higher = bound | (1 << (31 - i))
        bound = tl.where(tl.sum((order >= higher).to(tl.int32), axis=0) >= k, higher, bound)
    chosen = (order >= bound) & (group < groups)
    rank = tl.cumsum(chosen.to(tl.int32), axis=0)
    many = tl.sum(chosen.to(tl.int32), axis=0)
    scratch = scratch_ptr + row * (3 * K)
    tl.store(scratch + rank - 1, group.to(tl.int64), mask=chosen & (rank <= K))
    tl.debug_barrier()
    slot = tl.arange(0, K)
    picked = tl.load(scratch + slot, mask=slot < many, other=0)
    column = picked[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    mask = (slot < many)[:, None] & (column < cols)
    x = tl.load(x_ptr + row * cols + column, mask=mask, other=0.0)
    candidate = tl.ravel(mask & (_unsigned(x) >= bound))
    place = tl.cumsum(candidate.to(tl.int32), axis=0)
    found = tl.sum(candidate.to(tl.int32), axis=0)
    if (many <= K) & (found <= 2 * K):
        tl.store(scratch + K + place - 1, tl.ravel(_keys(x, column, mask)), mask=candidate)
        tl.debug_barrier()
        lane = tl.arange(0, 2 * K)[None, :]
        few = tl.load(scratch + K + lane, mask=lane < found, other=LOWEST)
        _write(
            tl.topk(few, K), values_ptr, indices_ptr, row + tl.zeros((1, 1), tl.int64), rows, k, K
        )
    else:
        top = tl.topk(_keys(best, group, group < groups), K)
        column = (0xFFFFFFFF - (top & 0xFFFFFFFF))[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
        # Masks missing groups, because there may be fewer than K groups.
        mask = (top != LOWEST)[:, None] & (column < cols)
        x = tl.load(x_ptr + row * cols + column, mask=mask, other=0.0)
        every = tl.reshape(_keys(x, column, mask), (1, K * GROUP))
        _write(
            tl.topk(every, K), values_ptr, indices_ptr, row + tl.zeros((1, 1), tl.int64), rows, k, K
        )


@triton.jit
def _row_kernel(
    x_ptr,
    maxima_ptr,
    scratch_ptr,
    values_ptr,
    indices_ptr,
    rows,
    cols,
    groups,
    k,
    BLOCK: tl.constexpr,
    K: tl.constexpr,
    GROUP: tl.constexpr,
    TILE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    for first in range(0, groups, TILE):
        group = first + tl.arange(0, TILE)
        column = group[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
        x = tl.load(x_ptr + row * cols + column, mask=column < cols, other=-float("inf"))
        tl.store(maxima_ptr + row * groups + group, tl.max(x, axis=1), mask=group < groups)
    tl.debug_barrier()  # The maxima are passed to other threads of this program through memory.
    _select(
        x_ptr,
        maxima_ptr,
        scratch_ptr,
        values_ptr,
        indices_ptr,
        row,
        rows,
        cols,
        groups,
        k,
        BLOCK,
        K,
        GROUP,
    )


def _registers(most: int) -> dict[str, int]:
    """Returns a launch option that limits registers, if the compiler accepts such a limit (ptxas
    does)."""
    if (
        triton.knobs.runtime.interpret
        or triton.runtime.driver.active.get_current_target().backend != "cuda"
    ):
        return {}
    return {"maxnreg": most}


def topk_rows(x: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    values = torch.empty((rows, k), dtype=torch.float32, device=x.device)
    indices = torch.empty((rows, k), dtype=torch.int32, device=x.device)
    width = max(2, triton.next_power_of_2(k))
    if cols <= 1024:
        block = max(width, triton.next_power_of_2(cols))
        tile = 1024 // block
        _short_kernel[(triton.cdiv(rows, tile),)](
            x, values, indices, rows, cols, k, ROWS=tile, BLOCK=block, K=width, num_warps=4
        )
        return values, indices
    groups = triton.cdiv(cols, GROUP)
    scratch = torch.empty((rows, 3 * width), dtype=torch.int64, device=x.device)
    maxima = torch.empty((rows, groups), dtype=torch.float32, device=x.device)
    # Each block size needs its own compilation, and bitonic kernels compile slowly. So all but the
    # longest rows use the same block size.
    block = max(1024, triton.next_power_of_2(groups))
    # With this limit on registers an SM can run four programs (rows) at a time. Only the rare path
    # for many equal entries would use more registers without the limit.
    _row_kernel[(rows,)](
        x,
        maxima,
        scratch,
        values,
        indices,
        rows,
        cols,
        groups,
        k,
        BLOCK=block,
        K=width,
        GROUP=GROUP,
        TILE=256,
        num_warps=8,
        **_registers(64),
    )
    return values, indices
