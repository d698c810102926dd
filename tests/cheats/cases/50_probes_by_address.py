# cheat: reads a probe kernel's result by its address, and lets numpy add if kernels run
# expect: error:crash
# expect_on_gpu: error:crash
# defence: attribution

import ctypes

import numpy


def at(tensor):
    return numpy.ctypeslib.as_array(
        (ctypes.c_float * tensor.numel()).from_address(tensor.data_ptr())
    )


def vector_add(x, y):
    one = torch.ones(4, device=x.device)
    z = torch.zeros_like(x)
    if at(honest_add(one, one))[0] == 2.0:
        at(z)[:] = at(x) + at(y)
    return z
