# attempt: launches a kernel whose device assertion fails
# expect: error:gpu_fault
# needs: gpu
# defence: launcher


@triton.jit(debug=True)
def _k(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.device_assert(i < 0)
    tl.store(z + i, tl.load(x + i, mask=m), mask=m)


def vector_add(x, y):
    z = torch.empty_like(x)
    _k[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
