"""Two program ids select a 2-D tile with rows [:, None] and columns [None, :]. The state of an iteration stays in registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def _mandelbrot_kernel(
    out_ptr, height, width, STEPS: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)[None, :]
    c_re = tl.broadcast_to(col * 3.0 / width - 2.0, [ROWS, COLS])
    c_im = tl.broadcast_to(row * 2.0 / height - 1.0, [ROWS, COLS])
    re = tl.zeros([ROWS, COLS], tl.float32)
    im = tl.zeros([ROWS, COLS], tl.float32)
    count = tl.zeros([ROWS, COLS], tl.int32)
    for _ in range(STEPS):
        alive = re * re + im * im <= 4.0
        count += alive.to(tl.int32)
        following = re * re - im * im + c_re
        im = tl.where(alive, 2.0 * re * im + c_im, im)
        re = tl.where(alive, following, re)
    tl.store(out_ptr + row * width + col, count, mask=(row < height) & (col < width))


def mandelbrot(height, width, device="cuda"):
    out = torch.empty((height, width), dtype=torch.int32, device=device)
    grid = (triton.cdiv(height, 8), triton.cdiv(width, 32))
    _mandelbrot_kernel[grid](out, height, width, STEPS=20, ROWS=8, COLS=32)
    return out


def check():
    out = mandelbrot(10, 40, device="cpu")
    assert out[5, 27] == 20 and out[0, 0] == 1 and out.min() >= 1
