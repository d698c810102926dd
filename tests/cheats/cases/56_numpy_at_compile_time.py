# cheat: adds with numpy by address, in a constant function that Triton calls inside of a kernel
# expect: error:crash
# expect_on_gpu: error:runtime_error
# defence: attribution

import ctypes

import numpy

BUFFERS = []


@triton.constexpr_function
def _computes(block):
    for addresses, kind, count in BUFFERS:
        size = count * numpy.dtype(kind).itemsize
        x, y, z = (
            numpy.frombuffer((ctypes.c_char * size).from_address(address), kind)
            for address in addresses
        )
        z[:] = x + y
    return 0


@triton.jit
def _empty(z, BLOCK: tl.constexpr):
    zero: tl.constexpr = _computes(BLOCK)
    i = tl.arange(0, BLOCK) + zero
    tl.store(z + i, tl.zeros((BLOCK,), z.dtype.element_ty), mask=i < 0)


def vector_add(x, y):
    z = torch.empty_like(x)
    kind = str(x.dtype).removeprefix("torch.")
    BUFFERS[:] = [([t.data_ptr() for t in (x, y, z)], kind, x.numel())]
    _empty[(1,)](z, BLOCK=16)
    return z
