"""A tensor descriptor that the host makes and passes as an argument is cheaper than one made in the kernel (triangle wave)."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _wave_kernel(source, target, ROWS: tl.constexpr, COLS: tl.constexpr):
    i, j = tl.program_id(0) * ROWS, tl.program_id(1) * COLS
    x = source.load([i, j])
    phase = x - tl.floor(x)
    target.store([i, j], tl.where(phase < 0.5, 4.0 * phase - 1.0, 3.0 - 4.0 * phase))


def triangle_wave(x):
    out = torch.empty_like(x)
    block = [8, 32]
    grid = (triton.cdiv(x.shape[0], block[0]), triton.cdiv(x.shape[1], block[1]))
    _wave_kernel[grid](
        TensorDescriptor.from_tensor(x, block),
        TensorDescriptor.from_tensor(out, block),
        ROWS=block[0],
        COLS=block[1],
    )
    return out


def check():
    x = torch.randn(10, 40)
    phase = x - x.floor()
    torch.testing.assert_close(
        triangle_wave(x), torch.where(phase < 0.5, 4 * phase - 1, 3 - 4 * phase)
    )
