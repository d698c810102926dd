# cheat: launches a probe kernel, reads its result by address to see whether kernels run, and computes with numpy
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
