# attempt: makes 32-bit and x32 system calls, which have other numbers
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp
# in_run_test: yes

import mmap
import signal


def int80():
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


def x32():
    syscall(0x40000000 + 39)


for name, attempt in (("int 0x80", int80), ("an x32 call", x32)):
    status = in_child(attempt)
    require(
        f"{name} ends the process, not status {status:#x}",
        os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSYS,
    )
