"""The kernels compute the running maximum and its index as an associative scan over pairs (value,
column). There are two forms.

Many rows: one warp computes one row in one pass over memory. It scans block after block and keeps a
running pair. A warp scans by shuffles only and waits for no other warp. Two things hide the latency
of memory: other warps run meanwhile, and the loads of the next DEPTH blocks are issued before a
block is scanned.

Few long rows: the first kernel computes the maximum of each tile, and the column of this maximum.
Each program of the second kernel finds the largest maximum of the tiles before its own tile (a few
KB from the L2 cache) and scans its tile. Reading x twice costs a quarter more traffic, but no tile
waits for another tile."""

import torch
import triton
import triton.language as tl

ROWS_TO_FILL_A_GPU = 256
ROWS_FOR_WARPS = 1024
BLOCK = 512
DEPTH = 1


@triton.jit
def _later(value_a, at_a, value_b, at_b):
    # b is the later pair. It replaces a only if its value is larger, so the first of equal values
    # stays.
    larger = value_b > value_a
    return tl.where(larger, value_b, value_a), tl.where(larger, at_b, at_a)


@triton.jit
def _scan(x, columns, before, before_at):
    value, at = tl.associative_scan((x, columns), 0, _later)
    keep = before >= value
    return tl.where(keep, before, value), tl.where(keep, before_at, at)


@triton.jit
def _row_kernel(x_ptr, values_ptr, indices_ptr, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    before = -float("inf")
    before_at = 0
    for first in range(0, cols, BLOCK):
        columns = first + tl.arange(0, BLOCK)
        mask = columns < cols
        x = tl.load(x_ptr + start + columns, mask=mask, other=-float("inf"))
        value, at = _scan(x, columns, before, before_at)
        tl.store(values_ptr + start + columns, value, mask=mask)
        tl.store(indices_ptr + start + columns, at, mask=mask)
        best, where = tl.max(x, axis=0, return_indices=True)
        before_at = tl.where(best > before, first + where, before_at)
        before = tl.maximum(before, best)


@triton.jit
def _warp_kernel(x_ptr, values_ptr, indices_ptr, cols, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    x_row = x_ptr + start
    lane = tl.arange(0, BLOCK)
    ahead = ()
    for step in tl.static_range(DEPTH):
        columns = step * BLOCK + lane
        ahead = ahead + (tl.load(x_row + columns, mask=columns < cols, other=-float("inf")),)
    before = -float("inf")
    before_at = 0
    for first in range(0, cols, BLOCK):
        columns = first + DEPTH * BLOCK + lane
        ahead = ahead + (tl.load(x_row + columns, mask=columns < cols, other=-float("inf")),)
        columns = first + lane
        value, at = _scan(ahead[0], columns, before, before_at)
        tl.store(values_ptr + start + columns, value, mask=columns < cols)
        tl.store(indices_ptr + start + columns, at, mask=columns < cols)
        # The running maximum and its index never decrease along the row. So the last pair has the
        # largest value and the largest index, and two maxima extract it.
        before = tl.max(value, axis=0)
        before_at = tl.max(at, axis=0)
        ahead = ahead[1:]


@triton.jit
def _best_kernel(x_ptr, best_ptr, at_ptr, cols, tiles, BLOCK: tl.constexpr):
    tile = tl.program_id(0)
    row = tl.program_id(1)
    columns = tile * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row.to(tl.int64) * cols + columns, mask=columns < cols, other=-float("inf"))
    best, where = tl.max(x, axis=0, return_indices=True)
    tl.store(best_ptr + row * tiles + tile, best)
    tl.store(at_ptr + row * tiles + tile, tile * BLOCK + where)


@triton.jit
def _tile_kernel(
    x_ptr,
    best_ptr,
    at_ptr,
    values_ptr,
    indices_ptr,
    cols,
    tiles,
    BLOCK: tl.constexpr,
    WIDTH: tl.constexpr,
):
    tile = tl.program_id(0)
    row = tl.program_id(1)
    before = -float("inf")
    before_at = 0
    lane = tl.arange(0, WIDTH)
    for first in range(0, tile, WIDTH):
        candidates = tl.load(
            best_ptr + row * tiles + first + lane, mask=first + lane < tile, other=-float("inf")
        )
        best, where = tl.max(candidates, axis=0, return_indices=True)
        before_at = tl.where(
            best > before, tl.load(at_ptr + row * tiles + first + where), before_at
        )
        before = tl.maximum(before, best)
    start = row.to(tl.int64) * cols
    columns = tile * BLOCK + tl.arange(0, BLOCK)
    mask = columns < cols
    x = tl.load(x_ptr + start + columns, mask=mask, other=-float("inf"))
    value, at = _scan(x, columns, before, before_at)
    tl.store(values_ptr + start + columns, value, mask=mask)
    tl.store(indices_ptr + start + columns, at, mask=mask)


def cummax_with_index(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    values = torch.empty_like(x)
    indices = torch.empty((rows, cols), dtype=torch.int32, device=x.device)
    if rows >= ROWS_FOR_WARPS:
        block = min(BLOCK, max(32, triton.next_power_of_2(cols)))
        _warp_kernel[(rows,)](x, values, indices, cols, BLOCK=block, DEPTH=DEPTH, num_warps=1)
        return values, indices
    if rows >= ROWS_TO_FILL_A_GPU or cols <= 2048:
        block = min(2048, triton.next_power_of_2(cols))
        _row_kernel[(rows,)](
            x, values, indices, cols, BLOCK=block, num_warps=8 if block > 1024 else 4
        )
        return values, indices
    block = 2048
    tiles = triton.cdiv(cols, block)
    best = torch.empty((rows, tiles), dtype=torch.float32, device=x.device)
    at = torch.empty((rows, tiles), dtype=torch.int32, device=x.device)
    _best_kernel[(tiles, rows)](x, best, at, cols, tiles, BLOCK=block, num_warps=4)
    _tile_kernel[(tiles, rows)](
        x, best, at, values, indices, cols, tiles, BLOCK=block, WIDTH=1024, num_warps=8
    )
    return values, indices
