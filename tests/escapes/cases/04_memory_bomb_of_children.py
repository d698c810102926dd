# attempt: starts 20 children that touch 40 MiB each, more than the limit together
# expect: error:memory_limit
# needs: root
# defence: cgroup_memory

import mmap
import time

for _ in range(20):
    if os.fork() == 0:
        block = mmap.mmap(-1, 40 << 20)
        block.madvise(mmap.MADV_HUGEPAGE)
        ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(block)), 1, len(block))
        time.sleep(1000)
time.sleep(3)
got_through("20 children held 800 MiB for 3 s")
