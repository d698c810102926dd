"""Each program computes a tile. A row of the tile consists of the 32 elements whose mask bits are
in one word. So each mask word is loaded once, and its bits are extracted in registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def _dropout_kernel(x_ptr, bits_ptr, y_ptr, n, words, factor, WORDS: tl.constexpr):
    word = tl.program_id(0) * WORDS + tl.arange(0, WORDS)
    lane = tl.arange(0, 32)[None, :]
    index = word.to(tl.int64)[:, None] * 32 + lane
    bits = tl.load(bits_ptr + word, mask=word < words, other=0)
    kept = ((bits[:, None] >> lane) & 1) != 0
    x = tl.load(x_ptr + index, mask=index < n, other=0.0).to(tl.float32)
    tl.store(y_ptr + index, tl.where(kept, x * factor, 0.0).to(tl.float16), mask=index < n)


def dropout_from_mask_bits(x: torch.Tensor, bits: torch.Tensor, p: float) -> torch.Tensor:
    y = torch.empty_like(x)
    words = bits.numel()
    _dropout_kernel[(triton.cdiv(words, 128),)](
        x, bits, y, x.numel(), words, 1.0 / (1.0 - p), WORDS=128, num_warps=8
    )
    return y
