# attempt: returns memory that it never wrote, hoping for an earlier result
# expect: fail
# needs: gpu
# defence: launcher, judge


@triton.jit
def _k(x, y, z, n, BLOCK: tl.constexpr):
    pass


def vector_add(x, y):
    z = torch.empty_like(x)
    _k[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
