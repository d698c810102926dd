"""The grid for ragged rows has as many blocks as the longest row needs. A block past its row's end returns at once (rows reversed)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _reverse_kernel(x_ptr, offset_ptr, out_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    begin = tl.load(offset_ptr + row)
    length = tl.load(offset_ptr + row + 1) - begin
    first = tl.program_id(1) * BLOCK
    if first >= length:
        return
    at = first + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + begin + length - 1 - at, mask=at < length)
    tl.store(out_ptr + begin + at, x, mask=at < length)


def reverse_rows(x, offsets, longest):
    out = torch.empty_like(x)
    _reverse_kernel[(offsets.numel() - 1, triton.cdiv(longest, 16))](x, offsets, out, BLOCK=16)
    return out


def check():
    lengths = [3, 0, 40, 17]
    x = torch.randn(60)
    offsets = torch.tensor([0, 3, 3, 43, 60], dtype=torch.int32)
    assert torch.equal(
        reverse_rows(x, offsets, max(lengths)), torch.cat([row.flip(0) for row in x.split(lengths)])
    )
