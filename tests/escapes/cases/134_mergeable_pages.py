# attempt: marks pages as mergeable, so that the time of a write shows whether another page is equal
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp
# in_run_test: yes

import mmap

MADVISE, MADV_DONTNEED, MADV_MERGEABLE = 28, 4, 12
pages = mmap.mmap(-1, 1 << 16)
address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
# Only the jail answers EPERM. A kernel that cannot merge pages answers EINVAL.
denied(
    "madvise(MADV_MERGEABLE)", syscall, MADVISE, address, 1 << 16, MADV_MERGEABLE, by=_errno.EPERM
)
# The kernel ignores the upper 32 bits of the argument. The filter must ignore them too.
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
