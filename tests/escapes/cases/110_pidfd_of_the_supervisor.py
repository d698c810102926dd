# attempt: gets a pidfd of the supervisor from its channel, to signal, enter and read the supervisor
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: pid_namespace, seccomp
# in_run_test: yes

import gc
import signal
import socket

SO_PEERPIDFD, SO_PASSPIDFD, PIDFD_GET_INFO, PIDFD_GET_NET_NAMESPACE = 77, 76, 0xC040FF0B, 0xFF04
PIDFD_SEND_SIGNAL, PIDFD_GETFD, SETNS, PROCESS_MADVISE = 424, 438, 308, 440
channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
theirs = channel._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
require("the peer's process id is not told", int.from_bytes(theirs[:4], "little") == 0)
denied(
    "SO_PASSPIDFD, for handles of who sends messages",
    channel._socket.setsockopt,
    socket.SOL_SOCKET,
    SO_PASSPIDFD,
    1,
    by=_errno.ENOPROTOOPT,
)
try:
    peer = channel._socket.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD)
except OSError as error:
    note(f"denied SO_PEERPIDFD: {error}")
else:
    import fcntl

    got_through("SO_PEERPIDFD")
    for number in (0, int(signal.SIGSTOP), int(signal.SIGKILL)):
        denied(f"signal {number} to the supervisor", syscall, PIDFD_SEND_SIGNAL, peer, number, 0, 0)
    denied("its standard error", syscall, PIDFD_GETFD, peer, 2, 0)
    denied("its namespaces", syscall, SETNS, peer, 0x40000000)
    denied("its network", fcntl.ioctl, peer, PIDFD_GET_NET_NAMESPACE, 0)
    denied("its memory", syscall, PROCESS_MADVISE, peer, 0, 0, 21, 0)
    with open(f"/proc/self/fdinfo/{peer}") as facts:
        lines = dict(line.split(":", 1) for line in facts if ":" in line)
    require("its process id is not told by the handle", int(lines.get("Pid", "0")) <= 0)
