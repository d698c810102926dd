"""An exclusive scan is an inclusive scan of the input shifted by one, so no division is needed (share of light that passes i layers)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _transmittance_kernel(alpha_ptr, out_ptr, layers, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    ray = tl.program_id(0) * layers
    before = tl.load(alpha_ptr + ray + at - 1, mask=(at > 0) & (at < layers), other=0.0)
    tl.store(out_ptr + ray + at, tl.cumprod(1.0 - before, axis=0), mask=at < layers)


def transmittance(alpha):
    out = torch.empty_like(alpha)
    _transmittance_kernel[(alpha.shape[0],)](
        alpha, out, alpha.shape[1], BLOCK=triton.next_power_of_2(alpha.shape[1])
    )
    return out


def check():
    alpha = torch.rand(3, 21) * 0.3
    want = torch.cat([torch.ones(3, 1), (1 - alpha).cumprod(1)[:, :-1]], 1)
    torch.testing.assert_close(transmittance(alpha), want)
