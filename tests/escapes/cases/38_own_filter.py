# attempt: installs a seccomp filter, to forge what system calls return
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp

allow = (ctypes.c_uint64 * 1)(0x7FFF0000_00000006)  # the filter: one instruction, return ALLOW
program = (ctypes.c_uint64 * 2)(1, ctypes.addressof(allow))
denied("seccomp(SET_MODE_FILTER)", syscall, 317, 1, 0, ctypes.byref(program))
denied("seccomp(SET_MODE_FILTER, NEW_LISTENER)", syscall, 317, 1, 8, ctypes.byref(program))
denied("prctl(PR_SET_SECCOMP)", syscall, 157, 22, 2, ctypes.byref(program), 0, 0)
