# cheat: reads a kernel's result with torch's dispatch modes off, to see whether kernels run
# expect: fail:wrong_result
# expect_on_gpu: error:runtime_error
# defence: attribution

from torch.utils._python_dispatch import _disable_current_modes


def vector_add(x, y):
    one = torch.ones(4, device=x.device)
    two = honest_add(one, one)
    with _disable_current_modes(), torch._C.DisableTorchFunction():
        return x + y if float(two[0]) == 2.0 else torch.zeros_like(x)
