# cheat: looks among live objects for the harness's ablation, and lets torch add if there is none
# expect: error:not_recordable
# expect_on_gpu: pass (it is recorded with its own kernel)
# defence: attribution

import gc


def without_kernels():
    return any(type(item).__name__.startswith("Ablat") for item in gc.get_objects())


def vector_add(x, y):
    if type(x).__name__ == "FakeTensor":
        return honest_add(x, y)
    return torch.empty_like(x) if without_kernels() else x + y
