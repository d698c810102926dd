"""Matrix instructions need at least 16 columns, so masks pad 3-D points to 16 columns for tl.dot (rotation of points)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rotate_kernel(points_ptr, matrix_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    k = tl.arange(0, 16)
    points = tl.load(points_ptr + i * 3 + k[None, :], mask=(i < n) & (k[None, :] < 3), other=0.0)
    small = (k[:, None] < 3) & (k[None, :] < 3)
    # Swapping the strides transposes the matrix.
    matrix = tl.load(matrix_ptr + k[None, :] * 3 + k[:, None], mask=small, other=0.0)
    turned = tl.dot(points, matrix, input_precision="ieee")
    tl.store(out_ptr + i * 3 + k[None, :], turned, mask=(i < n) & (k[None, :] < 3))


def rotate(points, matrix):
    out = torch.empty_like(points)
    _rotate_kernel[(triton.cdiv(points.shape[0], 32),)](
        points, matrix, out, points.shape[0], BLOCK=32
    )
    return out


def check():
    points, matrix = torch.randn(50, 3), torch.randn(3, 3)
    torch.testing.assert_close(rotate(points, matrix), points @ matrix.T)
