# attempt: sends sockets that hold sockets and event files, all of which the supervisor must close
# expect: error:protocol_error
# needs: nothing
# defence: frames

import array
import gc
import select
import socket

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
innermost = select.epoll()
reader, writer = os.pipe()
for _ in range(500):
    innermost.register(os.dup(reader), select.EPOLLIN)
inside = [innermost.fileno(), os.pidfd_open(os.getpid()), os.memfd_create("huge")]
os.ftruncate(inside[-1], 128 << 20)
for page in range(0, 128 << 20, 4096):
    os.pwrite(inside[-1], b"x", page)
for _ in range(3):
    left, right = socket.socketpair()
    left.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", inside))])
    left.sendmsg(
        [b"x"],
        [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [left.fileno(), right.fileno()]))],
    )  # the message also holds its own socket
    inside = [right.fileno(), left.fileno()]
    left.detach(), right.detach()
channel.send({"type": "imported"}, b"", inside * 20)
os._exit(0)
