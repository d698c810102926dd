# attempt: writes just past the end of its output
# expect: error:canary_violation
# needs: gpu
# defence: launcher


@triton.jit
def _k(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=i < n + 16)


def vector_add(x, y):
    z = torch.empty_like(x)
    _k[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
