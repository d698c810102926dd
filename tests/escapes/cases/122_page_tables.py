# attempt: reads one page in each 2 MiB of 4 TiB, which needs no memory except page tables
# expect: error:memory_limit,timeout
# needs: root
# defence: cgroup_memory


# Each page that is read needs a new page table. The control group must count page tables.
PRIVATE, ANONYMOUS, NORESERVE = 2, 0x20, 0x4000
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
room = libc.mmap(
    None, ctypes.c_size_t(1 << 42), 1, PRIVATE | ANONYMOUS | NORESERVE, -1, ctypes.c_long(0)
)
require("a reservation of 4 TiB is allowed", room != 2**64 - 1)
for number in range(1 << 21):
    ctypes.c_char.from_address(
        room + number * (2 << 20)
    ).value  # a read maps the shared page of zeros, so only the page table needs memory
