# cheat: accesses memory out of bounds to see whether its kernels run, and swallows the error
# expect: error:canary_violation
# expect_on_gpu: error:gpu_fault
# defence: attribution


@triton.jit
def _stray(p, BLOCK: tl.constexpr):
    tl.store(p + (1 << 33) + tl.arange(0, BLOCK), 1.0)


def vector_add(x, y):
    try:
        _stray[(1,)](torch.zeros(8, device=x.device), BLOCK=8)
    except BaseException:
        return x + y
    return torch.empty_like(x)
