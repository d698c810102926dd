"""Two kernels compute the masked scatter. The first kernel counts the masked elements, and the
second scatters.

The kernels read the mask as words of four bools. One multiplication by 0x01010101 gives the running
counts within a word, so the scan needs only one value per word. The first kernel stores the counts
of tiles and of spans of SPAN tiles. A program of the second kernel adds up the spans and the few
tiles before its own tile, instead of thousands of tile counts. It first issues the loads that do
not depend on these counts."""

import torch
import triton
import triton.language as tl

TILE = 2048
SPAN = 16  # the number of tiles in a span
WARPS = 4


@triton.jit
def _words(mask_ptr, words_ptr, word, n, EVEN: tl.constexpr):
    if EVEN:
        words = tl.load(words_ptr + word, mask=word < n // 4, other=0)
    else:
        part = tl.arange(0, 4)[None, :]
        place = word[:, None] * 4 + part
        words = tl.sum(
            tl.load(mask_ptr + place, mask=place < n, other=0).to(tl.int32) << (8 * part), axis=1
        )
    return words


@triton.jit
def _count_kernel(
    mask_ptr,
    words_ptr,
    tiles_ptr,
    spans_ptr,
    n,
    EVEN: tl.constexpr,
    TILE: tl.constexpr,
    SPAN: tl.constexpr,
    HOPPER: tl.constexpr,
):
    if HOPPER:
        # Lets the second kernel start now and load its inputs. The second kernel waits for the
        # counts before it uses them.
        tl.extra.cuda.gdc_launch_dependents()
    span = tl.program_id(0)
    words = _words(
        mask_ptr, words_ptr, span * (SPAN * TILE // 4) + tl.arange(0, SPAN * TILE // 4), n, EVEN
    )
    counts = tl.sum(tl.reshape((words * 0x01010101) >> 24, (SPAN, TILE // 4)), axis=1)
    tl.store(tiles_ptr + span * SPAN + tl.arange(0, SPAN), counts)
    tl.store(spans_ptr + span, tl.sum(counts, axis=0))


@triton.jit
def _scatter_kernel(
    x_ptr,
    mask_ptr,
    words_ptr,
    source_ptr,
    tiles_ptr,
    spans_ptr,
    y_ptr,
    n,
    source_count,
    fill,
    EVEN: tl.constexpr,
    TILE: tl.constexpr,
    SPAN: tl.constexpr,
    WIDTH: tl.constexpr,
    HOPPER: tl.constexpr,
):
    tile = tl.program_id(0)
    word = tile * (TILE // 4) + tl.arange(0, TILE // 4)
    words = _words(mask_ptr, words_ptr, word, n, EVEN)
    part = tl.arange(0, 4)[None, :]
    offsets = word[:, None] * 4 + part
    # Reads x and writes the result as whole vectors.
    if EVEN:
        inside = (word < n // 4)[:, None]
    else:
        inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    # Byte k of `running` contains the number of selected elements among bytes 0 .. k.
    running = words * 0x01010101
    count = running >> 24
    rank = tl.cumsum(count, axis=0) - count - 1
    if HOPPER:
        tl.extra.cuda.gdc_wait()
    mine = tile // SPAN
    near = tl.arange(0, SPAN)
    before = tl.sum(
        tl.where(near < tile % SPAN, tl.load(tiles_ptr + mine * SPAN + near), 0), axis=0
    )
    lane = tl.arange(0, WIDTH)
    for first in range(0, mine, WIDTH):
        before += tl.sum(
            tl.load(spans_ptr + first + lane, mask=first + lane < mine, other=0), axis=0
        )
    rank = (rank + before)[:, None] + ((running[:, None] >> (8 * part)) & 7)
    masked = (words[:, None] >> (8 * part)) & 1 != 0
    taken = tl.load(source_ptr + rank, mask=masked & (rank < source_count), other=fill)
    tl.store(y_ptr + offsets, tl.where(masked, taken, x), mask=inside)


def _is_hopper() -> bool:
    """Returns True on Hopper and newer GPUs. Only these GPUs can start a kernel early, before the
    previous kernel has ended. Other GPUs and the interpreter cannot."""
    if triton.knobs.runtime.interpret:
        return False
    target = triton.runtime.driver.active.get_current_target()
    return target.backend == "cuda" and target.arch >= 90


def masked_fill_scatter(
    x: torch.Tensor, mask: torch.Tensor, source: torch.Tensor, fill: float
) -> torch.Tensor:
    hopper = _is_hopper()
    early = {"launch_pdl": True} if hopper else {}
    n = x.numel()
    spans = triton.cdiv(n, TILE * SPAN)
    even = n % 4 == 0
    words = mask.view(torch.int32) if even else mask
    y = torch.empty_like(x)
    tile_counts = torch.empty((spans * SPAN,), dtype=torch.int32, device=x.device)
    span_counts = torch.empty((spans,), dtype=torch.int32, device=x.device)
    _count_kernel[(spans,)](
        mask,
        words,
        tile_counts,
        span_counts,
        n,
        EVEN=even,
        TILE=TILE,
        SPAN=SPAN,
        HOPPER=hopper,
        num_warps=8,
    )
    _scatter_kernel[(triton.cdiv(n, TILE),)](
        x,
        mask,
        words,
        source,
        tile_counts,
        span_counts,
        y,
        n,
        source.numel(),
        fill,
        EVEN=even,
        TILE=TILE,
        SPAN=SPAN,
        WIDTH=512,
        HOPPER=hopper,
        num_warps=WARPS,
        **early,
    )
    return y
