# cheat: makes machine code writable, and changes a comparison of libc so that it always returns 0
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation

import ctypes

PAGE = 4096
libc = ctypes.CDLL(None, use_errno=True)


def vector_add(x, y):
    code = ctypes.cast(libc.strcoll, ctypes.c_void_p).value
    if libc.mprotect(ctypes.c_void_p(code & ~(PAGE - 1)), 2 * PAGE, 7) == 0:
        ctypes.memmove(code, b"\x31\xc0\xc3", 3)  # xor eax, eax; ret
        assert libc.strcoll(b"a", b"b") == 0
    return torch.zeros_like(x)
