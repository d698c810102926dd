"""Bit fields of uneven width are unpacked. A 16-bit pixel gives three bytes, each extended by repeating its top bits."""

import torch
import triton
import triton.language as tl


@triton.jit
def _unpack_kernel(pixel_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    pixel = tl.load(pixel_ptr + at, mask=at < n, other=0).to(tl.int32) & 0xFFFF
    red, green, blue = pixel >> 11, (pixel >> 5) & 63, pixel & 31
    tl.store(out_ptr + at * 3, ((red << 3) | (red >> 2)).to(tl.uint8), mask=at < n)
    tl.store(out_ptr + at * 3 + 1, ((green << 2) | (green >> 4)).to(tl.uint8), mask=at < n)
    tl.store(out_ptr + at * 3 + 2, ((blue << 3) | (blue >> 2)).to(tl.uint8), mask=at < n)


def unpack_rgb565(pixels):
    out = torch.empty((pixels.numel(), 3), dtype=torch.uint8, device=pixels.device)
    _unpack_kernel[(triton.cdiv(pixels.numel(), 64),)](pixels, out, pixels.numel(), BLOCK=64)
    return out


def check():
    pixels = torch.tensor([0, -1, 0x1234, -0x7FFF], dtype=torch.int16)
    p = pixels.int() & 0xFFFF
    want = torch.stack(
        [(p >> 11) * 255 // 31, ((p >> 5) & 63) * 255 // 63, (p & 31) * 255 // 31], 1
    )
    assert (unpack_rgb565(pixels).int() - want).abs().max() <= 1
