"""Softmax of long rows in two kernels, both over chunks of rows, so that few rows fill the machine too.

The first leaves each chunk's maximum and sum. The second merges those of its row and writes its chunk; it takes the chunks in reverse
order and streams its stores past the cache, so that much of the second read of x still hits in L2.
"""

import torch
import triton
import triton.language as tl

CHUNK = 8192
LOWEST = tl.constexpr(-3.0e38)  # finite, so that a chunk of -inf weighs exp(-inf) = 0 instead of a NaN


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
def _write_kernel(x_ptr, greatest_ptr, sum_ptr, y_ptr, cols, chunks, BLOCK: tl.constexpr, CHUNKS: tl.constexpr):
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
    chunks = triton.cdiv(cols, CHUNK)
    greatest = torch.empty((rows, chunks), dtype=torch.float32, device=x.device)
    sums = torch.empty((rows, chunks), dtype=torch.float32, device=x.device)
    _chunk_kernel[(rows * chunks,)](x, greatest, sums, cols, chunks, BLOCK=CHUNK, num_warps=8)
    merged = triton.next_power_of_2(chunks)
    _write_kernel[(rows * chunks,)](x, greatest, sums, y, cols, chunks, BLOCK=CHUNK, CHUNKS=merged, num_warps=8)
    return y
