# attempt: marks pages as mergeable; the time of the next write then shows whether others have the same content
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp
# in_run_test: yes

import mmap

MADVISE, MADV_DONTNEED, MADV_MERGEABLE = 28, 4, 12
pages = mmap.mmap(-1, 1 << 16)
address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
# EINVAL means a kernel that merges no pages.
denied(
    "madvise(MADV_MERGEABLE)", syscall, MADVISE, address, 1 << 16, MADV_MERGEABLE, by=_errno.EPERM
)
# The kernel ignores the high half of the argument, and so must the filter.
denied(
    "the same with high bits",
    syscall,
    MADVISE,
    address,
    1 << 16,
    MADV_MERGEABLE | 1 << 32,
    by=_errno.EPERM,
)
allowed("madvise(MADV_DONTNEED)", syscall, MADVISE, address, 1 << 16, MADV_DONTNEED)
