"""tl.static_range unrolls a loop of known length. The taps of a filter are scalar loads that the compiler keeps in registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def _fir_kernel(x_ptr, tap_ptr, out_ptr, n, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for k in tl.static_range(TAPS):
        total += tl.load(tap_ptr + k) * tl.load(x_ptr + at + k, mask=at + k < n, other=0.0)
    tl.store(out_ptr + at, total, mask=at < n - TAPS + 1)


def fir(x, taps):
    out = torch.empty(x.numel() - taps.numel() + 1, device=x.device)
    _fir_kernel[(triton.cdiv(out.numel(), 64),)](
        x, taps, out, x.numel(), TAPS=taps.numel(), BLOCK=64
    )
    return out


def check():
    x, taps = torch.randn(150), torch.randn(5)
    torch.testing.assert_close(fir(x, taps), x.unfold(0, 5, 1) @ taps, atol=1e-5, rtol=1e-5)
