# attempt: maps 10 TiB without access, as CUDA does: allowed
# expect: pass
# tier: C
# defence: allowed
# short: yes

PROT_NONE, MAP_PRIVATE, MAP_ANONYMOUS, MAP_NORESERVE = 0, 2, 0x20, 0x4000
allowed(
    "mmap of 10 TiB",
    syscall,
    9,
    0,
    10 << 40,
    PROT_NONE,
    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
    -1,
    0,
)
