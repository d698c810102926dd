# attempt: touches memory without end
# expect: error:memory_limit
# needs: root
# defence: cgroup_memory
# in_run_test: yes

import mmap

held = []
while True:
    block = mmap.mmap(-1, 256 << 20)
    block.madvise(mmap.MADV_HUGEPAGE)
    ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(block)), 1, len(block))
    held.append(block)
