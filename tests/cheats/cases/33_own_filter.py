# cheat: installs a seccomp filter to rewrite what the harness sends
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: jail

import ctypes

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
libc = ctypes.CDLL(None, use_errno=True)


class Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_ushort),
        ("yes", ctypes.c_ubyte),
        ("no", ctypes.c_ubyte),
        ("k", ctypes.c_uint),
    ]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]


def vector_add(x, y):
    allow = (Instruction * 1)(Instruction(6, 0, 0, 0x7FFF0000))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, 2, ctypes.byref(Program(1, allow)), 0, 0) == 0:
        found("a filter of its own")
    return torch.zeros_like(x)
