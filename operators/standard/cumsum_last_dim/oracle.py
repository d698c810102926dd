"""The kernels compute an inclusive row scan in one pass over memory. There are two forms.

Many rows: each program computes one row, block after block, with a running total.

Few long rows: each program computes one tile of a row, with decoupled look-back. A program
publishes the sum of its tile at once. It publishes the prefix (the sum of the row up to the end of
the tile) as soon as it has added up what the programs before it have published. A published value
and its state (SUM or PREFIX) share one 64-bit word, so a reader always sees both together. A ticket
numbers the tiles in the order in which their programs start. So a program waits only for programs
that already run."""

import torch
import triton
import triton.language as tl

ROWS_TO_FILL_A_GPU = 256
# States of a tile's word. SUM: the word contains the sum of this tile alone. PREFIX: the word
# contains the sum of the row up to the end of this tile.
SUM: tl.constexpr = tl.constexpr(1)
PREFIX: tl.constexpr = tl.constexpr(2)


@triton.jit
def _row_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    columns = tl.arange(0, BLOCK)
    total = 0.0
    for first in range(0, cols, BLOCK):
        mask = first + columns < cols
        x = tl.load(x_ptr + start + first + columns, mask=mask, other=0.0)
        tl.store(y_ptr + start + first + columns, total + tl.cumsum(x, axis=0), mask=mask)
        total += tl.sum(x, axis=0)


@triton.jit
def _pack(value, state):
    bits = value.to(tl.int32, bitcast=True).to(tl.int64) & 0xFFFFFFFF
    return bits | (state.to(tl.int64) << 32)


@triton.jit
def _look_back_kernel(
    x_ptr, y_ptr, words_ptr, cols, tiles, BLOCK: tl.constexpr, WINDOW: tl.constexpr
):
    ticket = tl.atomic_add(words_ptr, 1).to(tl.int32)
    row = ticket // tiles
    tile = ticket % tiles
    columns = tile * BLOCK + tl.arange(0, BLOCK)
    mask = columns < cols
    start = row.to(tl.int64) * cols
    x = tl.load(x_ptr + start + columns, mask=mask, other=0.0)
    own = tl.sum(x, axis=0)
    words = words_ptr + 1 + row * tiles
    tl.atomic_xchg(words + tile, _pack(own, tl.where(tile == 0, PREFIX, SUM)))
    before = 0.0
    lane = tl.arange(0, WINDOW)
    nearest = tile - 1
    while nearest >= 0:
        position = nearest - lane
        word = tl.load(words + position, mask=position >= 0, other=0, volatile=True)
        state = tl.where(position >= 0, (word >> 32).to(tl.int32), PREFIX)
        value = (word & 0xFFFFFFFF).to(tl.int32).to(tl.float32, bitcast=True)
        # Adds up the values of the tiles before this tile, back to the nearest PREFIX. If one of
        # these words is not published yet, the next turn of the loop reads the same words again.
        stop = tl.min(tl.where(state == PREFIX, lane, WINDOW), axis=0)
        missing = tl.max(tl.where((state == 0) & (lane < stop), 1, 0), axis=0)
        if missing == 0:
            before += tl.sum(tl.where((lane <= stop) & (position >= 0), value, 0.0), axis=0)
            nearest = tl.where(stop < WINDOW, -1, nearest - WINDOW)
    if tile > 0:
        tl.atomic_xchg(words + tile, _pack(before + own, tl.where(tile >= 0, PREFIX, SUM)))
    tl.store(y_ptr + start + columns, before + tl.cumsum(x, axis=0), mask=mask)


def cumsum_last_dim(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    rows, cols = x.shape
    if rows >= ROWS_TO_FILL_A_GPU or cols <= 8192:
        block = min(4096, triton.next_power_of_2(cols))
        _row_kernel[(rows,)](x, y, cols, BLOCK=block, num_warps=8 if block > 1024 else 4)
        return y
    block = 4096
    tiles = triton.cdiv(cols, block)
    # The first word is the ticket counter. One word per tile follows.
    words = torch.zeros((1 + rows * tiles,), dtype=torch.int64, device=x.device)
    _look_back_kernel[(rows * tiles,)](
        x, y, words, cols, tiles, BLOCK=block, WINDOW=128, num_warps=8
    )
    return y
