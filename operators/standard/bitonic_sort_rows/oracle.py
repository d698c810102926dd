"""The kernel sorts whole rows with a bitonic network. One warp keeps a row in its registers (two
warps for the longest rows).

Most steps of the network exchange entries whose positions differ in a low bit. The low bits of a
position select a register of a thread, so most compare-exchanges are one minimum or maximum within
a thread. Only the few steps over high bits need shuffles. The input is unsorted, so the kernel may
load entries into any positions, and it uses the positions that are best for memory accesses. Only
the sorted result is moved into the order of memory. The kernel sorts a descending run as an
ascending run of complements, at a cost of one exclusive or per merge. Rows are padded with the
largest value, so the padding ends up behind all entries. Several short rows share a program."""

import torch
import triton
import triton.language as tl

LANES = 32


@triton.jit
def _partner(x, DIM: tl.constexpr):
    """Exchanges the two entries along dimension DIM, which has two positions. If both positions are
    in one thread, this needs no instruction. If they are in one warp, it needs a shuffle."""
    bits = x.to(tl.int32, bitcast=True)
    return (bits ^ tl.xor_sum(bits, DIM, True)).to(x.dtype, bitcast=True)


@triton.jit
def _side(LOG: tl.constexpr, BIT: tl.constexpr):
    """Returns bit BIT of the position of each entry of a row. A row has LOG dimensions of size 2,
    one for each bit of a position. The result has size 2 in the dimension of this bit and size 1 in
    the others, so it broadcasts."""
    return tl.reshape(tl.arange(0, 2), [1] * (LOG - BIT - 1) + [2] + [1] * BIT)


@triton.jit
def _reverse(x, where):
    """Reverses the order of the entries whose bit in `where` is set. It complements integers and
    flips the sign of floats, which must not be NaN or -0."""
    if x.dtype == tl.int32:
        y = x ^ -where
    else:
        y = (x.to(tl.int32, bitcast=True) ^ (where << 31)).to(tl.float32, bitcast=True)
    return y


@triton.jit
def _sort(h, LOG: tl.constexpr):
    for stage in tl.static_range(1, LOG + 1):
        # The runs of a stage have 2^stage entries. Every second run is reversed. The last stage has
        # a single run.
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
    # The dimensions are (vectors of a thread, threads, entries of a vector). The permutation makes
    # the thread index the highest bits of the position.
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
    # A thread has at most 64 entries. These entries and their partners fit in its registers.
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
