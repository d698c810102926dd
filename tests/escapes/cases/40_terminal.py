# attempt: calls TIOCSTI and TIOCLINUX on the standard descriptors
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp, job_session, session

import fcntl

for fd in (0, 1, 2):
    denied(f"TIOCSTI on {fd}", fcntl.ioctl, fd, 0x5412, b"x")
    denied(f"TIOCLINUX on {fd}", fcntl.ioctl, fd, 0x541C, b"\x02")
denied("/dev/tty", os.open, "/dev/tty", os.O_RDWR)
require("it leads a session of its own", os.getsid(0) == os.getpid())
