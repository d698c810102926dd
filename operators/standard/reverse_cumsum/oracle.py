"""The kernels compute suffix sums in one pass over memory. There are two forms.

Many rows: each program computes one row, block after block from the end, with a running total.

Few long rows: each program computes one tile, with decoupled look-back, here towards the end of the
row. A program publishes the sum of its tile at once. It publishes the suffix sum (the sum from the
tile to the end of the row) as soon as it has added up what the programs of later tiles have
published. A published value and its state (OWN or SUFFIX) share one 64-bit word, so a reader always
sees both together. A ticket numbers the tiles of a row from its end. So a program waits only for
programs that already run."""

import torch
import triton
import triton.language as tl

ROWS_TO_FILL_A_GPU = 256
# States of a tile's word. OWN: the word contains the sum of this tile alone. SUFFIX: the word
# contains the sum from this tile to the end of the row.
OWN: tl.constexpr = tl.constexpr(1)
SUFFIX: tl.constexpr = tl.constexpr(2)


@triton.jit
def _row_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    columns = tl.arange(0, BLOCK)
    blocks = tl.cdiv(cols, BLOCK)
    total = 0.0
    for i in range(0, blocks):
        position = (blocks - 1 - i) * BLOCK + columns
        mask = position < cols
        x = tl.load(x_ptr + start + position, mask=mask, other=0.0)
        # The suffix sum of an element is the total minus the sum of the elements before it in the
        # block. A reversed scan would be slower, because it shuffles all lanes twice.
        total += tl.sum(x, axis=0)
        tl.store(y_ptr + start + position, total - (tl.cumsum(x, axis=0) - x), mask=mask)


@triton.jit
def _pack(value, state):
    bits = value.to(tl.int32, bitcast=True).to(tl.int64) & 0xFFFFFFFF
    return bits | (state.to(tl.int64) << 32)


@triton.jit
def _look_ahead_kernel(
    x_ptr, y_ptr, words_ptr, cols, tiles, BLOCK: tl.constexpr, WINDOW: tl.constexpr
):
    ticket = tl.atomic_add(words_ptr, 1).to(tl.int32)
    row = ticket // tiles
    done = ticket % tiles  # the number of tiles of the row after this tile; they have started
    columns = (tiles - 1 - done) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < cols
    start = row.to(tl.int64) * cols
    x = tl.load(x_ptr + start + columns, mask=mask, other=0.0)
    own = tl.sum(x, axis=0)
    words = words_ptr + 1 + row * tiles
    tl.atomic_xchg(words + done, _pack(own, tl.where(done == 0, SUFFIX, OWN)))
    behind = 0.0
    lane = tl.arange(0, WINDOW)
    nearest = done - 1
    while nearest >= 0:
        position = nearest - lane
        word = tl.load(words + position, mask=position >= 0, other=0, volatile=True)
        state = tl.where(position >= 0, (word >> 32).to(tl.int32), SUFFIX)
        value = (word & 0xFFFFFFFF).to(tl.int32).to(tl.float32, bitcast=True)
        # Adds up the values of the tiles after this tile, up to the nearest SUFFIX. If one of these
        # words is not published yet, the next turn of the loop reads the same words again.
        stop = tl.min(tl.where(state == SUFFIX, lane, WINDOW), axis=0)
        missing = tl.max(tl.where((state == 0) & (lane < stop), 1, 0), axis=0)
        if missing == 0:
            behind += tl.sum(tl.where((lane <= stop) & (position >= 0), value, 0.0), axis=0)
            nearest = tl.where(stop < WINDOW, -1, nearest - WINDOW)
    if done > 0:
        tl.atomic_xchg(words + done, _pack(behind + own, tl.where(done >= 0, SUFFIX, OWN)))
    tl.store(y_ptr + start + columns, behind + own - (tl.cumsum(x, axis=0) - x), mask=mask)


def reverse_cumsum(x: torch.Tensor) -> torch.Tensor:
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
    _look_ahead_kernel[(rows * tiles,)](
        x, y, words, cols, tiles, BLOCK=block, WINDOW=128, num_warps=8
    )
    return y
