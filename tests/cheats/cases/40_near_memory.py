# cheat: reads the device memory beside its buffers, and returns it
# expect: fail:wrong_result
# device: gpu
# defence: process_separation, launcher

NEAR = 4


@triton.jit
def _near(x, z, n, NEAR: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + n + i % NEAR, mask=i < n), mask=i < n)


def vector_add(x, y):
    z = torch.empty_like(x)
    _near[(triton.cdiv(x.numel(), 1024),)](x, z, x.numel(), NEAR=NEAR, BLOCK=1024)
    return z
