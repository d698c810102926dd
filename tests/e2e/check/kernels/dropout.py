# inputs: ["x=f32[{n}]", "keep=bool[{n}]", "p=0.25"]
# axes: {"n": [999]}
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x, keep, y, p, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.load(keep + at, at < n, 0) != 0
    tl.store(y + at, tl.where(kept, tl.load(x + at, at < n, 0.0) / (1 - p), 0.0), at < n)


def kernel(x, keep, p):
    y = torch.empty_like(x)
    _kernel[(triton.cdiv(x.numel(), 256),)](x, keep, y, p, x.numel(), 256)
    return y


def reference(x, keep, p):
    return x * keep / (1 - p)
