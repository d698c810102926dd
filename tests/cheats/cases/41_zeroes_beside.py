# cheat: zeroes device memory around its buffers, where an error counter may lie
# expect: error:canary_violation
# device: gpu
# defence: launcher

AROUND = 16


@triton.jit
def _zero_around(z, n, AROUND: tl.constexpr):
    i = tl.arange(0, AROUND)
    tl.store(z - 1 - i, tl.zeros((AROUND,), tl.float32).to(z.dtype.element_ty))
    tl.store(z + n + i, tl.zeros((AROUND,), tl.float32).to(z.dtype.element_ty))


def vector_add(x, y):
    z = honest_add(x, y)
    _zero_around[(1,)](z, x.numel(), AROUND=AROUND)
    return z
