# attempt: traces the process that forked it, and looks for a socket to that process
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: pid_namespace, job_descriptors, seccomp

import socket
import stat

require("the parent is not to be seen", os.getppid() == 0)
denied("ptrace of the parent", syscall, 101, 16, os.getppid(), 0, 0)
sockets = 0
for name in os.listdir("/proc/self/fd"):
    try:
        mode = os.fstat(int(name)).st_mode
    except OSError:
        continue
    sockets += stat.S_ISSOCK(mode)
require(f"one socket is open, that of the job, not {sockets}", sockets == 1)
denied(
    "a connection to an abstract socket of the supervisor",
    socket.socket(socket.AF_UNIX).connect,
    "\0assay",
)
