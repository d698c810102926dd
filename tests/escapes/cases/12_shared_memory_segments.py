# attempt: creates System V shared memory beyond the memory limit
# expect: error:memory_limit
# needs: root
# defence: cgroup_memory

IPC_PRIVATE, IPC_CREAT, SHMGET, SHMAT = 0, 0o1000, 29, 30
for _ in range(24):
    segment = syscall(SHMGET, IPC_PRIVATE, 256 << 20, IPC_CREAT | 0o600)
    _libc.shmat.restype = ctypes.c_void_p
    address = _libc.shmat(segment, None, 0)
    ctypes.memset(address, 1, 256 << 20)
got_through("6 GiB of System V shared memory")
