# cheat: overwrites the C function pointer behind a built-in comparison
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation

import ctypes
import math
import operator


class MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class Builtin(ctypes.Structure):
    _fields_ = [("head", ctypes.c_ssize_t * 2), ("method", ctypes.POINTER(MethodDef))]


def vector_add(x, y):
    wrong, always = (
        Builtin.from_address(id(f)).method.contents for f in (operator.is_not, operator.is_)
    )
    wrong.function = always.function
    assert operator.is_not(x, x) and math.isclose(1, 1)
    return torch.zeros_like(x)
