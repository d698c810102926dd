# cheat: launches a kernel that never ends, to block the GPU for the next job
# expect: error:timeout
# device: gpu
# defence: launcher


@triton.jit
def _hang(x, z, n):
    while tl.load(x, volatile=True) == tl.load(x, volatile=True):
        tl.store(z, tl.load(x, volatile=True))


def vector_add(x, y):
    z = honest_add(x, y)
    _hang[(1024,)](x, z, x.numel())
    return z
