"""Gather through an index: palette colours of 8-bit pixels; indices out of range are clamped before the load, not masked after."""

import torch
import triton
import triton.language as tl


@triton.jit
def _palette_kernel(pixel_ptr, palette_ptr, out_ptr, n, colours, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    pixel = tl.load(pixel_ptr + at, mask=at < n, other=0).to(tl.int32)
    colour = tl.load(palette_ptr + tl.minimum(pixel, colours - 1), mask=at < n)
    tl.store(out_ptr + at, colour, mask=at < n)


def apply_palette(pixels, palette):
    out = torch.empty(pixels.shape, dtype=palette.dtype, device=pixels.device)
    _palette_kernel[(triton.cdiv(pixels.numel(), 64),)](pixels, palette, out, pixels.numel(), palette.numel(), BLOCK=64)
    return out


def check():
    pixels = torch.randint(0, 30, (90,), dtype=torch.uint8)
    palette = torch.randint(0, 2**24, (20,), dtype=torch.int32)
    assert torch.equal(apply_palette(pixels, palette), palette[pixels.long().clamp(max=19)])
