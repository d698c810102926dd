# cheat: reads device memory far from its buffers, to find the expected output
# expect: error:gpu_fault
# device: gpu
# defence: process_separation, launcher


@triton.jit
def _far(x, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + (tl.program_id(0).to(tl.int64) + 1) * (1 << 36) + i, mask=i < n)
    tl.store(z + i, value, mask=i < n)


def vector_add(x, y):
    z = torch.empty_like(x)
    _far[(triton.cdiv(x.numel(), 1024),)](x, z, x.numel(), BLOCK=1024)
    return z
