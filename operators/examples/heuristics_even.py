"""@triton.heuristics derives a constant from the arguments. If the block size divides the length evenly, the code has no masks."""

import torch
import triton
import triton.language as tl


@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def _negabinary_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at) if EVEN else tl.load(x_ptr + at, mask=at < n)
    code = (x + 0x2AAAAAAA) ^ 0x2AAAAAAA
    if EVEN:
        tl.store(out_ptr + at, code)
    else:
        tl.store(out_ptr + at, code, mask=at < n)


def negabinary(x):
    """Converts int32 values with a small magnitude to base -2."""
    out = torch.empty_like(x)
    _negabinary_kernel[(triton.cdiv(x.numel(), 32),)](x, out, x.numel(), BLOCK=32)
    return out


def check():
    for n in (64, 50):
        x = torch.randint(-1000, 1000, (n,), dtype=torch.int32)
        codes = negabinary(x).tolist()
        assert [sum((-2) ** b for b in range(31) if c >> b & 1) for c in codes] == x.tolist()
