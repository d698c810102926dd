# attempt: lets Triton compile a static loop of a million steps
# expect: error:timeout,memory_limit,compilation_error,recursion_error
# needs: nothing
# defence: supervisor
# tool: compile


@triton.jit
def _bomb(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + i)
    for step in tl.static_range(1_000_000):
        total += tl.load(y + i) * step
    tl.store(z + i, total)


def vector_add(x, y):
    z = torch.empty_like(x)
    _bomb[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
