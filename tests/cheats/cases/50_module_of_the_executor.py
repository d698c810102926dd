# cheat: reads which module replaced Triton's executor, and lets torch do the work if kernels run
# expect: error:not_recordable
# expect_on_gpu: pass (it is recorded with its own kernel)
# defence: attribution

from triton.runtime import interpreter


def vector_add(x, y):
    if type(x).__name__ == "FakeTensor":
        return honest_add(x, y)
    if "ablat" in interpreter.GridExecutor.__call__.__module__:
        return torch.empty_like(x)
    return x + y
