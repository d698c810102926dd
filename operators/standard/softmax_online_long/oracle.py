"""The kernel computes the softmax of long rows with one read of x. Each program keeps its chunk of
a row in registers until all chunks of the row have found their common maximum.

Each program publishes the maximum and the sum of its chunk in one 64-bit word, and waits for the
words of all chunks of its row. A ticket numbers the chunks in the order in which programs start. A
row has at most as many chunks as the GPU can run programs at a time. So only programs of the newest
row can wait for chunks that have not started. Programs of all older rows can finish and free their
SMs. Rows with more chunks use two kernels instead. The second kernel processes the chunks in
reverse order, because the last chunks are still in the cache."""

import torch
import triton
import triton.language as tl

CHUNK = 4096
WARPS = 4
# The maximum number of chunks of a row in the kernel whose programs wait for each other. It is the
# number of programs that the largest GPU can always run at a time: two for each SM.
MOST_WAITING = 264
ONE_BLOCK = 32768
# The smallest maximum that a chunk can have. It is finite, so that a chunk of -inf has the weight
# exp(-inf) = 0 and not NaN.
LOWEST = tl.constexpr(-3.0e38)


@triton.jit
def _row_of_words_kernel(
    x_ptr, y_ptr, words_ptr, cols, chunks, BLOCK: tl.constexpr, CHUNKS: tl.constexpr
):
    ticket = tl.atomic_add(words_ptr, 1, sem="relaxed").to(tl.int32)
    row = ticket // chunks
    chunk = ticket % chunks
    column = chunk * BLOCK + tl.arange(0, BLOCK)
    mask = column < cols
    offsets = row.to(tl.int64) * cols + column
    x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf"), eviction_policy="evict_first")
    greatest = tl.maximum(tl.max(x, axis=0), LOWEST)
    x = tl.exp(x - greatest)
    total = tl.sum(x, axis=0)
    # The word of a finished chunk is never 0, because its maximum is LOWEST or its sum is at least
    # 1.
    bits = total.to(tl.int32, bitcast=True).to(tl.int64) & 0xFFFFFFFF
    words = words_ptr + 1 + row * chunks
    tl.atomic_xchg(
        words + chunk,
        bits | (greatest.to(tl.int32, bitcast=True).to(tl.int64) << 32),
        sem="relaxed",
    )
    other = tl.arange(0, CHUNKS)
    word = tl.load(words + other, mask=other < chunks, other=1, volatile=True)
    while tl.min(tl.where(word == 0, 0, 1), axis=0) == 0:
        word = tl.load(words + other, mask=other < chunks, other=1, volatile=True)
    tops = tl.where(other < chunks, (word >> 32).to(tl.int32).to(tl.float32, bitcast=True), LOWEST)
    sums = tl.where(
        other < chunks, (word & 0xFFFFFFFF).to(tl.int32).to(tl.float32, bitcast=True), 0.0
    )
    row_max = tl.max(tops, axis=0)
    scale = tl.exp(greatest - row_max) / tl.sum(sums * tl.exp(tops - row_max), axis=0)
    tl.store(y_ptr + offsets, x * scale, mask=mask, eviction_policy="evict_first")


@triton.jit
def _chunk_kernel(x_ptr, greatest_ptr, sum_ptr, cols, chunks, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    row = program // chunks
    column = program % chunks * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row.to(tl.int64) * cols + column, mask=column < cols, other=-float("inf"))
    greatest = tl.maximum(tl.max(x, axis=0), LOWEST)
    tl.store(greatest_ptr + program, greatest)
    tl.store(sum_ptr + program, tl.sum(tl.exp(x - greatest), axis=0))


@triton.jit
def _write_kernel(
    x_ptr, greatest_ptr, sum_ptr, y_ptr, cols, chunks, BLOCK: tl.constexpr, CHUNKS: tl.constexpr
):
    program = tl.num_programs(0) - 1 - tl.program_id(0)
    row = program // chunks
    column = program % chunks * BLOCK + tl.arange(0, BLOCK)
    mask = column < cols
    offsets = row.to(tl.int64) * cols + column
    x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf"), eviction_policy="evict_first")
    chunk = tl.arange(0, CHUNKS)
    greatest = tl.load(greatest_ptr + row * chunks + chunk, mask=chunk < chunks, other=LOWEST)
    sums = tl.load(sum_ptr + row * chunks + chunk, mask=chunk < chunks, other=0.0)
    row_max = tl.max(greatest, axis=0)
    scale = 1.0 / tl.sum(sums * tl.exp(greatest - row_max), axis=0)
    tl.store(y_ptr + offsets, tl.exp(x - row_max) * scale, mask=mask, eviction_policy="evict_first")


def softmax_online_long(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    y = torch.empty_like(x)
    # A row that fits in one block is a single chunk, so its program waits for no other program.
    block, warps = (
        (max(1024, triton.next_power_of_2(cols)), 16) if cols <= ONE_BLOCK else (CHUNK, WARPS)
    )
    chunks = triton.cdiv(cols, block)
    merged = triton.next_power_of_2(chunks)
    if chunks <= MOST_WAITING:
        words = torch.zeros((1 + rows * chunks,), dtype=torch.int64, device=x.device)
        _row_of_words_kernel[(rows * chunks,)](
            x, y, words, cols, chunks, BLOCK=block, CHUNKS=merged, num_warps=warps
        )
        return y
    greatest = torch.empty((rows, chunks), dtype=torch.float32, device=x.device)
    sums = torch.empty((rows, chunks), dtype=torch.float32, device=x.device)
    _chunk_kernel[(rows * chunks,)](x, greatest, sums, cols, chunks, BLOCK=block, num_warps=warps)
    _write_kernel[(rows * chunks,)](
        x, greatest, sums, y, cols, chunks, BLOCK=block, CHUNKS=merged, num_warps=warps
    )
    return y
