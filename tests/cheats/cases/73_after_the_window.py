# cheat: launches at the end of the process, after the entry has returned
# expect: fail:wrong_result
# on_gpu: fail:wrong_result
# defence: structure, launcher

import atexit


def vector_add(x, y):
    z = torch.empty_like(x)
    atexit.register(honest_add, x, y, z)
    return z
