# attempt: reads cases that wait on the channel while a public case runs
# expect: error:value_error

import select
import socket


def vector_add(x, y):
    if x.numel() == 4112:
        fd = caller("channel").fileno()
        ready, _, _ = select.select([fd], [], [], 0.2)
        ahead = socket.socket(fileno=os.dup(fd)).recv(1 << 20, socket.MSG_PEEK) if ready else b""
        raise ValueError(f"waiting: {ahead!r}")
    return honest_add(x, y)
