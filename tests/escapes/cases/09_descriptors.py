# attempt: opens files until the kernel refuses, and sends descriptors that no process receives
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_limits

import array
import socket

held = []


def open_files():
    while len(held) < 4_096:
        held.append(os.open("/dev/null", os.O_RDONLY))


denied("4,096 open files", open_files)
for fd in held:
    os.close(fd)

pairs = []


def send_descriptors():
    sent = 0
    fds = array.array("i", [os.open("/dev/null", os.O_RDONLY) for _ in range(200)])
    while sent < 16_384:
        pairs.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        pairs[-1][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        sent += len(fds)


denied("16,384 descriptors in flight", send_descriptors)
