"""A set is a bitmap: tl.atomic_or sets bit v % 32 of word v // 32, so repeated values do no harm."""

import torch
import triton
import triton.language as tl


@triton.jit
def _bitmap_kernel(value_ptr, bitmap_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(value_ptr + at, mask=at < n, other=0)
    bit = tl.full([BLOCK], 1, tl.int32) << (value % 32)
    tl.atomic_or(bitmap_ptr + value // 32, bit, mask=at < n, sem="relaxed")


def bitmap_of(values, limit):
    bitmap = torch.zeros(triton.cdiv(limit, 32), dtype=torch.int32, device=values.device)
    _bitmap_kernel[(triton.cdiv(values.numel(), 64),)](values, bitmap, values.numel(), BLOCK=64)
    return bitmap


def check():
    values = torch.tensor([3, 31, 40, 3, 95], dtype=torch.int32)
    assert bitmap_of(values, 96).tolist() == [(1 << 3) - (1 << 31), 1 << 8, -(1 << 31)]
