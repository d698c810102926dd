# attempt: creates a sparse file of 1 TiB, and ignores SIGXFSZ
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_limits, job_tmp

import signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
fd = os.open("/tmp/sparse", os.O_CREAT | os.O_RDWR)
denied("truncate to 1 TiB", os.ftruncate, fd, 1 << 40)
denied("write behind 512 MiB", os.pwrite, fd, b"x", 512 << 20)
