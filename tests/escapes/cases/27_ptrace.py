# attempt: reads other processes by ptrace, process_vm_readv and /proc/PID/mem
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp, pid_namespace, no_dumps
# in_run_test: yes

import time

PTRACE, PTRACE_TRACEME, PTRACE_ATTACH, PTRACE_SEIZE = 101, 0, 16, 0x4206
child = os.fork()
if child == 0:
    time.sleep(1000)
for pid in (os.getppid(), 1, 2, child):
    denied(f"ptrace(ATTACH, {pid})", syscall, PTRACE, PTRACE_ATTACH, pid, 0, 0)
    denied(f"ptrace(SEIZE, {pid})", syscall, PTRACE, PTRACE_SEIZE, pid, 0, 0)
    buffer = ctypes.create_string_buffer(16)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 16)
    denied(
        f"process_vm_readv({pid})",
        syscall,
        310,
        pid,
        ctypes.byref(vector),
        1,
        ctypes.byref(vector),
        1,
        0,
    )
    denied(
        f"process_vm_writev({pid})",
        syscall,
        311,
        pid,
        ctypes.byref(vector),
        1,
        ctypes.byref(vector),
        1,
        0,
    )
    denied(f"/proc/{pid}/mem", os.open, f"/proc/{pid}/mem", os.O_RDWR)
denied("ptrace(TRACEME)", syscall, PTRACE, PTRACE_TRACEME, 0, 0, 0)
denied("kcmp", syscall, 312, 1, child, 0, 0, 0)
os.kill(child, 9)
