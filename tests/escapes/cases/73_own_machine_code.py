# attempt: runs machine code of its own, which is allowed and gains nothing
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp, capabilities

import mmap

code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# These bytes are: mov rax, rdi; xor edi, edi; xor esi, esi; xor edx, edx; syscall; ret
code.write(b"\x48\x89\xf8\x31\xff\x31\xf6\x31\xd2\x0f\x05\xc3")
call = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(
    ctypes.addressof(ctypes.c_char.from_buffer(code))
)
require("getpid works", call(39) == os.getpid())
for name, number in {
    "setuid(0)": 105,
    "setgid(0)": 106,
    "unshare(0)": 272,
    "ptrace": 101,
    "bpf": 321,
    "setns": 308,
    "chroot": 161,
    "io_uring_setup": 425,
}.items():
    require(f"{name} is refused to machine code too", -4096 < call(number) < 0)
