"""tl.range(num_stages=) loads the data of the next steps during this step (x^T A y for each pair of rows, with A in column tiles)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _bilinear_kernel(
    x_ptr, a_ptr, y_ptr, out_ptr, ROWS: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    k = tl.arange(0, N)
    x = tl.load(x_ptr + row[:, None] * N + k[None, :])
    total = tl.zeros([ROWS], tl.float32)
    for start in tl.range(0, N, STEP, num_stages=3):
        j = start + tl.arange(0, STEP)
        a = tl.load(a_ptr + k[:, None] * N + j[None, :])
        y = tl.load(y_ptr + row[:, None] * N + j[None, :])
        total += tl.sum(tl.dot(x, a) * y.to(tl.float32), axis=1)
    tl.store(out_ptr + row, total)


def bilinear(x, a, y):
    out = torch.empty(x.shape[0], device=x.device)
    _bilinear_kernel[(x.shape[0] // 16,)](x, a, y, out, ROWS=16, N=x.shape[1], STEP=16)
    return out


def check():
    x, a, y = torch.randn(16, 64).half(), torch.randn(64, 64).half() / 8, torch.randn(16, 64).half()
    torch.testing.assert_close(
        bilinear(x, a, y),
        torch.einsum("ri,ij,rj->r", x.float(), a.float(), y.float()),
        atol=1e-2,
        rtol=1e-3,
    )
