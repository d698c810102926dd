# cheat: lets torch add in the hook that an autotuner calls before a launch
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


@triton.jit
def _moved(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n), mask=i < n)


def add_before(arguments):
    arguments["x"].add_(arguments["y"])


_tuned = triton.autotune([triton.Config({"BLOCK": 1024}, pre_hook=add_before)], key=["n"])(_moved)


def vector_add(x, y):
    z = torch.empty_like(x)
    _tuned[(triton.cdiv(x.numel(), 1024),)](kernel_copy(x), y, z, x.numel())
    return z
