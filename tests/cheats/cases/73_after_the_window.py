# cheat: launches at the end of the process, after the entry function has returned
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation, launcher

import atexit


def vector_add(x, y):
    z = torch.empty_like(x)
    atexit.register(honest_add, x, y, z)
    return z
