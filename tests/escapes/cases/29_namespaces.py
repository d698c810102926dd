# attempt: creates namespaces by unshare, clone and clone3
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp
# in_run_test: yes

FLAGS = {
    "NEWUSER": 0x10000000,
    "NEWNS": 0x20000,
    "NEWPID": 0x20000000,
    "NEWNET": 0x40000000,
    "NEWIPC": 0x8000000,
    "NEWUTS": 0x4000000,
}
FLAGS |= {"NEWCGROUP": 0x2000000, "NEWUSER and NEWNS": 0x10020000}
for name, flag in FLAGS.items():
    denied(f"unshare({name})", syscall, 272, flag)
    denied(f"clone({name})", syscall, 56, flag | 17, 0, 0, 0, 0)
arguments = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0)
denied("clone3(NEWUSER)", syscall, 435, ctypes.byref(arguments), ctypes.sizeof(arguments))
ctypes.set_errno(0)
_libc.syscall(ctypes.c_long(435), ctypes.byref(arguments), ctypes.c_long(ctypes.sizeof(arguments)))
require(
    "clone3 answers ENOSYS, so that the C library falls back", ctypes.get_errno() == _errno.ENOSYS
)
