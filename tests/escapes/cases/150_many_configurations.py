# attempt: has an autotuner with 100,000 configurations
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: supervisor


@triton.autotune([triton.Config({"BLOCK": 512, "TAG": tag}) for tag in range(100_000)], key=["n"])
@triton.jit
def _tagged(x, y, z, n, TAG: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


def vector_add(x, y):
    z = torch.empty_like(x)
    _tagged[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel())
    return z
