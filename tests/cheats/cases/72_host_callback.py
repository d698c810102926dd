# cheat: tries to queue a host function that computes the answer between kernels
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation

import ctypes


def vector_add(x, y):
    z = torch.zeros_like(x)
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: z.copy_(x + y))
    for library in ("libcuda.so.1", "libcudart.so", "libcudart.so.12"):
        try:
            ctypes.CDLL(library).cuLaunchHostFunc(None, callback, None)
            break
        except (OSError, AttributeError):
            pass
    return z
