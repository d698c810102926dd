# attempt: launches a kernel that waits for a flag that is never set
# expect: error:timeout
# needs: gpu
# defence: launcher, supervisor


@triton.jit
def _k(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    while tl.atomic_add(z + n - 1, 0.0) != 1234.5:  # also loops if the buffer holds NaN
        pass
    tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


def vector_add(x, y):
    z = torch.empty_like(x)
    _k[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
