"""Few bins: each program keeps a histogram of its own and adds it to the result once, so global atomics are rare whatever the values.
Many bins: an atomic per element, since then neighbours seldom meet."""

import torch
import triton
import triton.language as tl

PROGRAMS = 1056  # eight for each SM of the largest part
MOST_BINS = 1024


@triton.jit
def _private_kernel(x_ptr, counts_ptr, n, bins, BLOCK: tl.constexpr, BINS: tl.constexpr):
    total = tl.zeros((BINS,), tl.int32)
    lane = tl.arange(0, BLOCK)
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        index = block * BLOCK + lane
        x = tl.load(x_ptr + index, mask=index < n, other=-1)
        inside = (x >= 0) & (x < bins)
        # A mask takes part in every vote of the histogram; blocks that need none are spared it.
        if tl.min(inside.to(tl.int32), axis=0) > 0:
            total += tl.histogram(x, BINS)
        else:
            total += tl.histogram(tl.where(inside, x, 0), BINS, mask=inside)
    b = tl.arange(0, BINS)
    tl.atomic_add(counts_ptr + b, total, mask=(b < bins) & (total > 0), sem="relaxed")


@triton.jit
def _atomic_kernel(x_ptr, counts_ptr, n, bins, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index, mask=index < n, other=-1)
    tl.atomic_add(counts_ptr + x, 1, mask=(x >= 0) & (x < bins), sem="relaxed")


def histogram_bins(x: torch.Tensor, bins: int) -> torch.Tensor:
    n = x.numel()
    counts = torch.zeros((bins,), dtype=torch.int32, device=x.device)
    if bins <= MOST_BINS:
        block = 4096 if n >= 1 << 22 else 1024
        grid = (min(PROGRAMS, triton.cdiv(n, block)),)
        _private_kernel[grid](x, counts, n, bins, BLOCK=block, BINS=max(32, triton.next_power_of_2(bins)), num_warps=4)
    else:
        _atomic_kernel[(triton.cdiv(n, 1024),)](x, counts, n, bins, BLOCK=1024, num_warps=4)
    return counts
