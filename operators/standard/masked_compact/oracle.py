"""Two kernels compute the stream compaction. The first kernel counts the selected elements, and the
second moves them.

The kernels read the mask as words of four bools. One multiplication by 0x01010101 gives the running
counts within a word, so the scan needs only one value per word. The first kernel stores the counts
of tiles and of spans of SPAN tiles. A program of the second kernel adds up the spans and the few
tiles before its own tile, instead of thousands of tile counts. It writes selected elements one by
one. If its tile reaches into the part of the output after the last selected element, it writes the
fill value there in whole vectors."""

import torch
import triton
import triton.language as tl

TILE = 2048
SPAN = 16  # the number of tiles in a span
WARPS = 4
FLAT = True


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
):
    span = tl.program_id(0)
    words = _words(
        mask_ptr, words_ptr, span * (SPAN * TILE // 4) + tl.arange(0, SPAN * TILE // 4), n, EVEN
    )
    counts = tl.sum(tl.reshape((words * 0x01010101) >> 24, (SPAN, TILE // 4)), axis=1)
    tl.store(tiles_ptr + span * SPAN + tl.arange(0, SPAN), counts)
    tl.store(spans_ptr + span, tl.sum(counts, axis=0))


@triton.jit
def _compact_kernel(
    values_ptr,
    mask_ptr,
    words_ptr,
    tiles_ptr,
    spans_ptr,
    y_ptr,
    count_ptr,
    n,
    spans,
    fill,
    EVEN: tl.constexpr,
    FLAT: tl.constexpr,
    TILE: tl.constexpr,
    SPAN: tl.constexpr,
    WIDTH: tl.constexpr,
):
    tile = tl.program_id(0)
    word = tile * (TILE // 4) + tl.arange(0, TILE // 4)
    words = _words(mask_ptr, words_ptr, word, n, EVEN)
    part = tl.arange(0, 4)[None, :]
    offsets = word[:, None] * 4 + part
    # Loads all elements as whole vectors. A mask per element would save traffic but cost more time
    # for instructions.
    if EVEN:
        inside = (word < n // 4)[:, None]
    else:
        inside = offsets < n
    values = tl.load(values_ptr + offsets, mask=inside)
    mine = tile // SPAN
    near = tl.arange(0, SPAN)
    counts = tl.load(tiles_ptr + mine * SPAN + near)
    before = tl.sum(tl.where(near < tile % SPAN, counts, 0), axis=0)
    total = 0
    lane = tl.arange(0, WIDTH)
    for first in range(0, spans, WIDTH):
        sums = tl.load(spans_ptr + first + lane, mask=first + lane < spans, other=0)
        total += tl.sum(sums, axis=0)
        before += tl.sum(tl.where(first + lane < mine, sums, 0), axis=0)
    # Byte k of `running` contains the number of selected elements among bytes 0 .. k.
    running = words * 0x01010101
    count = running >> 24
    base = before + tl.cumsum(count, axis=0) - count - 1
    rank = base[:, None] + ((running[:, None] >> (8 * part)) & 7)
    chosen = (words[:, None] >> (8 * part)) & 1 != 0
    if FLAT:
        # The reshape gives neighbouring lanes neighbouring elements. The targets of neighbouring
        # elements are close together, so a store accesses few sectors.
        rank = tl.reshape(tl.where(chosen, rank, -1), (TILE,))
        tl.store(y_ptr + rank, tl.reshape(values, (TILE,)), mask=rank >= 0)
    else:
        tl.store(y_ptr + rank, values, mask=chosen)
    if (tile + 1) * TILE > total:
        tl.store(
            y_ptr + offsets,
            tl.full((TILE // 4, 4), fill, tl.float32),
            mask=(word * 4 >= total)[:, None] & inside,
        )
    if tile == 0:
        tl.store(count_ptr, total)
        # Writes the fill values that come before the first whole vector of fill values.
        edge = total + tl.arange(0, 4)
        tl.store(
            y_ptr + edge,
            tl.full((4,), fill, tl.float32),
            mask=edge < tl.minimum((total + 3) // 4 * 4, n),
        )


def masked_compact(
    values: torch.Tensor, mask: torch.Tensor, fill: float
) -> tuple[torch.Tensor, torch.Tensor]:
    n = values.numel()
    spans = triton.cdiv(n, TILE * SPAN)
    even = n % 4 == 0
    words = mask.view(torch.int32) if even else mask
    y = torch.empty_like(values)
    count = torch.empty((1,), dtype=torch.int32, device=values.device)
    tile_counts = torch.empty((spans * SPAN,), dtype=torch.int32, device=values.device)
    span_counts = torch.empty((spans,), dtype=torch.int32, device=values.device)
    _count_kernel[(spans,)](
        mask, words, tile_counts, span_counts, n, EVEN=even, TILE=TILE, SPAN=SPAN, num_warps=8
    )
    _compact_kernel[(triton.cdiv(n, TILE),)](
        values,
        mask,
        words,
        tile_counts,
        span_counts,
        y,
        count,
        n,
        spans,
        fill,
        EVEN=even,
        FLAT=FLAT,
        TILE=TILE,
        SPAN=SPAN,
        WIDTH=512,
        num_warps=WARPS,
    )
    return y, count
