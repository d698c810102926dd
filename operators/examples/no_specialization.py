"""With do_not_specialize, an argument whose value is 1 or a multiple of 16 causes no new compilation (dither order)."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["step"])
def _bayer_kernel(out_ptr, n, step, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    turn = (at + step) & 7
    tl.store(out_ptr + at, ((turn & 1) << 2) | (turn & 2) | (turn >> 2), mask=at < n)


def dither_order(n, step, device="cuda"):
    out = torch.empty(n, dtype=torch.int32, device=device)
    _bayer_kernel[(triton.cdiv(n, 32),)](out, n, step, BLOCK=32)
    return out


def check():
    assert dither_order(8, 0, "cpu").tolist() == [0, 4, 2, 6, 1, 5, 3, 7]
    assert dither_order(40, 16, "cpu")[:8].tolist() == dither_order(8, 0, "cpu").tolist()
