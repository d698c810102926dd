"""The kernel computes the entropy of each segment in one read: it updates the maximum, the sum of
the weights and the weighted sum together.

Several short segments share a program, with one segment in each row of its tile. Each longer
segment has its own warp, which reads the segment in blocks and rescales its sums when the maximum
grows. So there are no barriers, and each SM works on many independent segments. When the maximum
grows by d, the weights shrink by exp(-d), and the sum of weight * (x - maximum) also decreases by d
for each unit of weight.

A segment can start anywhere, but 16-byte vectors are aligned. The part that consists of whole
vectors is loaded as vectors, one block ahead. The few entries before and after it are loaded first,
as a separate tile."""

import torch
import triton
import triton.language as tl

BLOCK = 1024
ABSENT: tl.constexpr = tl.constexpr(-1.0e30)
# The start value of a maximum. It is finite, so that lanes without entries do not compute NaN.
LOWEST: tl.constexpr = tl.constexpr(-3.0e38)


@triton.jit
def _one_block_kernel(
    values_ptr, offsets_ptr, h_ptr, segments, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    segment = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    real = segment < segments
    start = tl.load(offsets_ptr + segment, mask=real, other=0)
    length = tl.load(offsets_ptr + segment + 1, mask=real, other=0) - start
    lane = tl.arange(0, BLOCK)[None, :]
    mask = lane < length[:, None]
    x = tl.load(values_ptr + start[:, None] + lane, mask=mask, other=LOWEST)
    shifted = tl.where(mask, x - tl.max(x, axis=1)[:, None], 0.0)
    weight = tl.where(mask, tl.exp(shifted), 0.0)
    # The sum is at least 1 unless the segment is empty. For an empty segment, the maximum with 1
    # makes the entropy ln 1 - 0 = 0.
    total = tl.maximum(tl.sum(weight, axis=1), 1.0)
    tl.store(h_ptr + segment, tl.log(total) - tl.sum(weight * shifted, axis=1) / total, mask=real)


@triton.jit
def _warp_kernel(values_ptr, offsets_ptr, h_ptr, BLOCK: tl.constexpr):
    segment = tl.program_id(0)
    start = tl.load(offsets_ptr + segment)
    end = tl.load(offsets_ptr + segment + 1)
    # The entries from `first` to `last` form whole vectors of 4 entries. The compiler sees from
    # these expressions that both bounds are multiples of 4, so it loads these entries as vectors.
    first = (start + 3) // 4 * 4
    last = tl.maximum(end // 4 * 4, first)
    lane = tl.arange(0, BLOCK)
    # A missing entry is far below all other entries. Its weight is 0, and so is the product of its
    # weight and a finite number.
    x = tl.load(values_ptr + first + lane, mask=lane < last - first, other=ABSENT)
    edge = tl.arange(0, 8)
    at = tl.where(edge < 4, start + edge, last + edge - 4)
    z = tl.load(
        values_ptr + at, mask=at < tl.where(edge < 4, tl.minimum(first, end), end), other=ABSENT
    )
    top = tl.max(z, axis=0)
    z -= top
    share = tl.exp(z)
    # If there are no edge entries, these sums contain no real entry, and the first block scales
    # them to 0.
    total = tl.sum(share, axis=0)
    moment = tl.sum(share * z, axis=0)
    for place in range(first, last, BLOCK):
        ahead = tl.load(
            values_ptr + place // 4 * 4 + BLOCK + lane,
            mask=lane < last - place // 4 * 4 - BLOCK,
            other=ABSENT,
        )
        new = tl.maximum(top, tl.max(x, axis=0))
        x -= new
        weight = tl.exp(x)
        fall = top - new
        keep = tl.exp(fall)
        moment = (moment + total * fall) * keep + tl.sum(weight * x, axis=0)
        total = total * keep + tl.sum(weight, axis=0)
        top = new
        x = ahead
    tl.store(h_ptr + segment, tl.where(end > start, tl.log(total) - moment / total, 0.0))


def segment_softmax_entropy(
    values: torch.Tensor, offsets: torch.Tensor, max_length: int
) -> torch.Tensor:
    segments = offsets.numel() - 1
    h = torch.empty((segments,), dtype=torch.float32, device=values.device)
    block = triton.next_power_of_2(max(max_length, 1))
    if block >= 512:
        _warp_kernel[(segments,)](values, offsets, h, BLOCK=BLOCK, num_warps=1)
        return h
    rows = 512 // block
    _one_block_kernel[(triton.cdiv(segments, rows),)](
        values, offsets, h, segments, ROWS=rows, BLOCK=block, num_warps=4
    )
    return h
