# inputs: ["x=f32[{s},{h},{d}]", "cos=f32[{s},{d}]", "sin=f32[{s},{d}]"]
# axes: {"s": [5], "h": [3], "d": [16]}
import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(x, cos, sin, y, heads, HALF: tl.constexpr):
    step, head, at = tl.program_id(0), tl.program_id(1), tl.arange(0, HALF)
    base = (step * heads + head) * 2 * HALF
    low, high = tl.load(x + base + at), tl.load(x + base + HALF + at)
    here = step * 2 * HALF + at
    tl.store(y + base + at, low * tl.load(cos + here) - high * tl.load(sin + here))
    there = here + HALF
    tl.store(y + base + HALF + at, high * tl.load(cos + there) + low * tl.load(sin + there))


def kernel(x, cos, sin):
    y = torch.empty_like(x)
    _kernel[(x.shape[0], x.shape[1])](x, cos, sin, y, x.shape[1], x.shape[2] // 2)
    return y


def reference(x, cos, sin):
    low, high = x.chunk(2, -1)
    return x * cos[:, None] + torch.cat([-high, low], -1) * sin[:, None]
