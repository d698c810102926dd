# inputs: ["x=f32[{n}]", "y=f32[{n}]", "a=0.5"]
# axes: {"n": [500]}
import triton
import triton.language as tl


@triton.jit
def _kernel(x, y, a, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, at < n) + a * tl.load(y + at, at < n), at < n)


def kernel(x, y, a):
    _kernel[(triton.cdiv(x.numel(), 128),)](x, y, a, x.numel(), 128)


def reference(x, y, a):
    x.add_(y, alpha=a)
