"""Shifts and masks count set bits without a special instruction. The kernel sums the differing bits over the words of a row."""

import torch
import triton
import triton.language as tl


@triton.jit
def _hamming_kernel(a_ptr, b_ptr, out_ptr, words, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    a = tl.load(a_ptr + row * words + at, mask=at < words, other=0)
    b = tl.load(b_ptr + row * words + at, mask=at < words, other=0)
    v = (a ^ b).to(tl.uint32, bitcast=True)
    v = v - ((v >> 1) & 0x55555555)
    v = (v & 0x33333333) + ((v >> 2) & 0x33333333)
    v = (v + (v >> 4)) & 0x0F0F0F0F
    count = (v + (v >> 8) + (v >> 16) + (v >> 24)) & 0xFF
    tl.store(out_ptr + row, tl.sum(count.to(tl.int32), axis=0))


def hamming(a, b):
    out = torch.empty(a.shape[0], dtype=torch.int32, device=a.device)
    _hamming_kernel[(a.shape[0],)](a, b, out, a.shape[1], BLOCK=triton.next_power_of_2(a.shape[1]))
    return out


def check():
    a, b = torch.randint(-(2**31), 2**31 - 1, (2, 5, 9), dtype=torch.int32)
    want = [
        sum(bin((x ^ y) & 0xFFFFFFFF).count("1") for x, y in zip(r, s, strict=True))
        for r, s in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert hamming(a, b).tolist() == want
