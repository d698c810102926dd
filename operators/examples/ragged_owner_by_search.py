"""Each element of ragged rows finds its row: every lane halves the range of offsets, so long and short rows cost the same."""

import torch
import triton
import triton.language as tl


@triton.jit
def _owner_kernel(offset_ptr, out_ptr, n, rows, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    low = tl.zeros([BLOCK], tl.int32)
    high = low + rows
    for _ in tl.static_range(STEPS):
        middle = (low + high) // 2
        right = tl.load(offset_ptr + middle, mask=middle <= rows, other=n) <= at
        low = tl.where(right & (high - low > 1), middle, low)
        high = tl.where(right, high, middle)
    tl.store(out_ptr + at, low, mask=at < n)


def owners(offsets, n):
    rows = offsets.numel() - 1
    out = torch.empty(n, dtype=torch.int32, device=offsets.device)
    _owner_kernel[(triton.cdiv(n, 32),)](
        offsets, out, n, rows, STEPS=rows.bit_length() + 1, BLOCK=32
    )
    return out


def check():
    lengths = torch.tensor([3, 1, 40, 17, 2])
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)]).int()
    assert torch.equal(owners(offsets, 63).long(), torch.arange(5).repeat_interleave(lengths))
