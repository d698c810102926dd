# cheat: accesses memory out of bounds, swallows the error, and then works honestly
# expect: error:canary_violation
# expect_on_gpu: pass (only the sanitizer sees a stray load on a GPU)
# defence: attribution


@triton.jit
def _stray(p, BLOCK: tl.constexpr):
    tl.load(p - 4096 + tl.arange(0, BLOCK))


def vector_add(x, y):
    try:
        _stray[(1,)](x, BLOCK=8)
    except BaseException:
        pass
    return honest_add(x, y)
