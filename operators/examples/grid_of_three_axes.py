"""A grid of three axes covers three dimensions (a box cut out of a volume). Offsets have 64 bits if they may exceed 2^31."""

import torch
import triton
import triton.language as tl


@triton.jit
def _crop_kernel(
    x_ptr, out_ptr, y0, x0, height, width, plane, pitch, ROWS: tl.constexpr, COLS: tl.constexpr
):
    z = tl.program_id(2).to(tl.int64)
    i = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    j = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]
    inside = (i < height) & (j < width)
    value = tl.load(x_ptr + z * plane + (i + y0) * pitch + (j + x0), mask=inside)
    tl.store(out_ptr + z * height * width + i * width + j, value, mask=inside)


def crop(volume, y0, x0, height, width):
    out = torch.empty((volume.shape[0], height, width), device=volume.device)
    grid = (triton.cdiv(width, 16), triton.cdiv(height, 8), volume.shape[0])
    _crop_kernel[grid](
        volume, out, y0, x0, height, width, volume.stride(0), volume.stride(1), ROWS=8, COLS=16
    )
    return out


def check():
    volume = torch.randn(3, 20, 40)
    assert torch.equal(crop(volume, 4, 7, 11, 19), volume[:, 4:15, 7:26])
