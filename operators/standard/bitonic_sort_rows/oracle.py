"""Bitonic sort of whole rows, a row in the registers of one warp (two for the longest rows).

Steps over low bits of an entry's place are by far the most frequent, so these bits name a register:
most compare-exchanges are then one minimum or maximum within a thread, and only the few over the
high bits are shuffles. Unsorted entries have no order to keep, so they are loaded in the order that
suits the memory, and renaming their places costs nothing. Only the result is moved. Descending runs
are sorted as ascending ones of complements, one exclusive or per merge. Padding is the greatest
value, which sorts past the end. Short rows share a program."""

import torch
import triton
import triton.language as tl

LANES = 32


@triton.jit
def _partner(x, DIM: tl.constexpr):
    """Returns the entry at the other place along one dimension of the hypercube. That takes no
    instruction within a thread, and a shuffle within a warp."""
    bits = x.to(tl.int32, bitcast=True)
    return (bits ^ tl.xor_sum(bits, DIM, True)).to(x.dtype, bitcast=True)


@triton.jit
def _side(LOG: tl.constexpr, BIT: tl.constexpr):
    """Returns 0 and 1 along the dimension of the hypercube that is this bit of an entry's place."""
    return tl.reshape(tl.arange(0, 2), [1] * (LOG - BIT - 1) + [2] + [1] * BIT)


@triton.jit
def _reverse(x, where):
    """Reverses the order of the entries where a bit is set, by the complement of integers or the
    sign of floats (which hold no NaN and no -0)."""
    if x.dtype == tl.int32:
        y = x ^ -where
    else:
        y = (x.to(tl.int32, bitcast=True) ^ (where << 31)).to(tl.float32, bitcast=True)
    return y


@triton.jit
def _sort(h, LOG: tl.constexpr):
    for stage in tl.static_range(1, LOG + 1):
        # Stage runs are 2^stage long; every second one is reversed, and the last stage has a single
        # run.
        if stage == 1:
            h = _reverse(h, _side(LOG, 1))
        elif stage < LOG:
            h = _reverse(h, _side(LOG, stage - 1) ^ _side(LOG, stage))
        elif LOG > 1:
            h = _reverse(h, _side(LOG, LOG - 1))
        for i in tl.static_range(stage):
            other = _partner(h, LOG - stage + i)
            h = tl.where(_side(LOG, stage - 1 - i) != 0, tl.maximum(h, other), tl.minimum(h, other))
    return h


@triton.jit
def _warp_kernel(
    x_ptr,
    y_ptr,
    cols,
    LOG: tl.constexpr,
    HIGH: tl.constexpr,
    THREADS: tl.constexpr,
    VECTOR: tl.constexpr,
    PADDING: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, 1 << LOG)
    x = tl.load(x_ptr + row * cols + column, mask=column < cols, other=PADDING)
    # The dimensions are (vectors of a thread, threads, entries of a vector). Threads become the
    # highest bits of the place.
    x = tl.permute(tl.reshape(x, (HIGH, THREADS, VECTOR)), (1, 0, 2))
    x = _sort(tl.reshape(x, [2] * LOG), LOG)
    tl.store(y_ptr + row * cols + column, tl.reshape(x, (1 << LOG,)), mask=column < cols)


@triton.jit
def _sort_kernel(
    x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr, PADDING: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, COLS)[None, :]
    mask = (row < rows) & (column < cols)
    at = row.to(tl.int64) * cols + column
    x = tl.load(x_ptr + at, mask=mask, other=PADDING)
    tl.store(y_ptr + at, tl.sort(x, 1), mask=mask)


def bitonic_sort_rows(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    rows, cols = x.shape
    block = max(2, triton.next_power_of_2(cols))
    padding = float("inf") if x.dtype == torch.float32 else 2**31 - 1
    if cols <= 128:
        tile = 1024 // block
        _sort_kernel[(triton.cdiv(rows, tile),)](
            x, y, rows, cols, ROWS=tile, COLS=block, PADDING=padding, num_warps=4
        )
        return y
    # 64 entries a thread at most: with their partners they still fit into registers.
    warps = max(1, block // 2048)
    threads = LANES * warps
    vector = 4 if cols % 16 == 0 else 1
    _warp_kernel[(rows,)](
        x,
        y,
        cols,
        LOG=block.bit_length() - 1,
        HIGH=block // (threads * vector),
        THREADS=threads,
        VECTOR=vector,
        PADDING=padding,
        num_warps=warps,
    )
    return y
