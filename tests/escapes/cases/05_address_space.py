# attempt: reserves 10 TiB of addresses without touching them, as CUDA does
# expect: pass
# needs: nothing
# defence: none_needed
# in_run_test: yes

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
