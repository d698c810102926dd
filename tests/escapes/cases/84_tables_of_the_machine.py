# attempt: uses up resources that the kernel counts for the machine: asynchronous I/O, huge pages
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp

context = ctypes.c_uint64(0)
denied("io_setup(60000)", syscall, 206, 60_000, ctypes.byref(context))
MAP_PRIVATE, MAP_ANONYMOUS, MAP_HUGETLB = 2, 0x20, 0x40000
denied(
    "mmap of huge pages",
    syscall,
    9,
    0,
    2 << 20,
    3,
    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
    -1,
    0,
)
denied("memfd_create of huge pages", syscall, 319, b"huge", 4)
denied("shmget of huge pages", syscall, 29, 0, 2 << 20, 0o4000 | 0o1000 | 0o600)
