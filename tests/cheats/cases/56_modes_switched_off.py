# cheat: switches torch's dispatch modes off, and lets torch add
# expect: fail:wrong_result
# expect_on_gpu: pass (its kernel does the work when it is recorded)
# defence: attribution

from torch.utils._python_dispatch import _disable_current_modes


def vector_add(x, y):
    if type(x).__name__ == "FakeTensor":
        return honest_add(x, y)
    with _disable_current_modes(), torch._C.DisableTorchFunction():
        return torch.add(x, y)
