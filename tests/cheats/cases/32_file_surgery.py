# cheat: directs libc's stdout to the result channel and prints a verdict
# expect: error:protocol_error
# expect_on_gpu: error:protocol_error
# defence: process_separation

import ctypes
import os
import stat

FILENO_OFFSET = 112  # the offset of _fileno in glibc's FILE
libc = ctypes.CDLL(None)


def vector_add(x, y):
    stdout = ctypes.c_void_p.in_dll(libc, "stdout").value
    for number in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                ctypes.c_int.from_address(stdout + FILENO_OFFSET).value = number
                libc.puts(b'{"type": "done", "ok": true}')
                libc.fflush(None)
        except OSError:
            pass
    return torch.zeros_like(x)
