"""@triton.autotune measures its configurations once for each value of the key, and the grid reads the chosen block size."""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 256}, num_warps=4)],
    key=["n"],
)
@triton.jit
def _log_odds_kernel(p_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    p = tl.load(p_ptr + at, mask=at < n, other=0.5)
    tl.store(out_ptr + at, tl.log(p) - tl.log(1.0 - p), mask=at < n)


def log_odds(p):
    out = torch.empty_like(p)
    _log_odds_kernel[lambda meta: (triton.cdiv(p.numel(), meta["BLOCK"]),)](p, out, p.numel())
    return out


def check():
    p = torch.rand(300) * 0.9 + 0.05
    torch.testing.assert_close(log_odds(p), torch.logit(p), atol=1e-4, rtol=1e-3)
