# cheat: tries to trace other processes, and to open their memory for writing
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: jail, process_separation

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def vector_add(x, y):
    for pid in {os.getppid(), *(int(name) for name in os.listdir("/proc") if name.isdigit())} - {
        0,
        os.getpid(),
    }:
        if libc.ptrace(16, pid, 0, 0) == 0:
            found(f"process {pid} can be traced")
        try:
            with open(f"/proc/{pid}/mem", "r+b"):
                found(f"memory of process {pid}")
        except OSError:
            pass
    return torch.zeros_like(x)
