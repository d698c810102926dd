# cheat: copies its inputs by kernels, and lets torch add when Python's collector runs
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution

import gc

open_sums = []


def late(phase, facts):
    while open_sums:
        a, b, z = open_sums.pop()
        z.copy_(a + b)


def vector_add(x, y):
    a, b, z = kernel_copy(x), kernel_copy(y), torch.empty_like(x)
    open_sums.append((a, b, z))
    gc.callbacks.append(late)
    gc.collect()
    return z
