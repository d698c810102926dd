# attempt: creates System V semaphores and messages, which use memory of the kernel, without end
# expect: error:memory_limit,runtime_error,timeout
# needs: root
# defence: cgroup_memory, job_ipc_namespace

SEMGET, MSGGET, MSGSND, CREATE, NOWAIT = 64, 68, 69, 0o1600, 0o4000
message = ctypes.create_string_buffer(8 + 8192)
ctypes.c_long.from_buffer(message).value = 1
kept = 0
try:
    while kept < 4 << 30:
        queue = syscall(MSGGET, 0, CREATE)
        for _ in range(2):
            syscall(MSGSND, queue, ctypes.addressof(message), 8192, NOWAIT)
            kept += 8192
except OSError as error:
    note(f"{kept >> 20} MiB in messages: {error}")
try:
    while kept < 4 << 30:
        syscall(SEMGET, 0, 32_000, CREATE)
        kept += 32_000 * 64
except OSError as error:
    note(f"{kept >> 20} MiB with semaphores: {error}")
require("less than the memory limit in kernel objects", kept < 512 << 20)
raise RuntimeError("refused before the memory limit")
