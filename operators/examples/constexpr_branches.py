"""A constexpr string selects code when the kernel is compiled. One kernel serves several window functions without a branch on the GPU."""

import torch
import triton
import triton.language as tl


@triton.jit
def _window_kernel(x_ptr, out_ptr, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    t = at / (n - 1.0)
    if KIND == "hann":
        weight = 0.5 - 0.5 * tl.cos(6.2831853 * t)
    elif KIND == "triangle":
        weight = 1.0 - tl.abs(2.0 * t - 1.0)
    else:
        tl.static_assert(KIND == "welch", "hann, triangle or welch")
        weight = 1.0 - (2.0 * t - 1.0) * (2.0 * t - 1.0)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * weight, mask=at < n)


def windowed(x, kind):
    out = torch.empty_like(x)
    _window_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), KIND=kind, BLOCK=64)
    return out


def check():
    x = torch.randn(100)
    t = torch.linspace(0, 1, 100)
    torch.testing.assert_close(
        windowed(x, "hann"), x * torch.hann_window(100, periodic=False), atol=1e-5, rtol=1e-4
    )
    torch.testing.assert_close(
        windowed(x, "triangle"), x * (1 - (2 * t - 1).abs()), atol=1e-5, rtol=1e-4
    )
    torch.testing.assert_close(
        windowed(x, "welch"), x * (1 - (2 * t - 1) ** 2), atol=1e-5, rtol=1e-4
    )
