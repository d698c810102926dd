"""In a grid-stride loop, a fixed number of programs loops over a vector of any length (a polynomial in Horner's form)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _horner_kernel(x_ptr, coefficients_ptr, out_ptr, n, DEGREE: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    for start in range(first, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n)
        value = tl.zeros([BLOCK], tl.float32)
        for k in tl.static_range(DEGREE, -1, -1):
            value = value * x + tl.load(coefficients_ptr + k)
        tl.store(out_ptr + at, value, mask=at < n)


def polynomial(x, coefficients, programs=4):
    out = torch.empty_like(x)
    _horner_kernel[(programs,)](
        x, coefficients, out, x.numel(), DEGREE=coefficients.numel() - 1, BLOCK=64
    )
    return out


def check():
    x, c = torch.rand(1000), torch.tensor([1.0, -2.0, 0.5, 3.0])
    torch.testing.assert_close(polynomial(x, c), 1 - 2 * x + 0.5 * x**2 + 3 * x**3)
