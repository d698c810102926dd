# attempt: writes far outside every buffer
# expect: error:gpu_fault
# needs: gpu
# defence: launcher


@triton.jit
def _k(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i.to(tl.int64) * 100000000000, 1.0, mask=i > 0)


def vector_add(x, y):
    z = torch.empty_like(x)
    _k[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
