# attempt: makes the kernel flush every disk of the machine, which no signal can interrupt
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp
# in_run_test: yes

import time

SYNC, SYNCFS, FSYNC, FDATASYNC, SYNC_FILE_RANGE, FADVISE, DONTNEED = 162, 306, 74, 75, 277, 221, 4
library = os.open(torch.__file__, os.O_RDONLY)
denied("sync", syscall, SYNC)
denied("syncfs of the host's disk", syscall, SYNCFS, library)
denied("dropping what others read from the page cache", syscall, FADVISE, library, 0, 0, DONTNEED)

start = time.monotonic()
for _ in range(2_000):
    os.fsync(library)
    os.fdatasync(library)
require("fsync of a shared file reaches no disk", time.monotonic() - start < 0.1)
