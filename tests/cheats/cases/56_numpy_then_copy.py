# cheat: lets numpy compute, and copies the result by a kernel
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
    z = torch.empty_like(x)
    at(z)[:] = at(x) + at(y)
    return kernel_copy(z)
