# attempt: executes an illegal instruction
# expect: error:crash
# needs: nothing
# defence: supervisor

import mmap


def vector_add(x, y):
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\x0f\x0b")
    ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
