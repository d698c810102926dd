# attempt: lets forked children fill socket buffers and pipes, whose memory no process maps
# expect: error:memory_limit,process_limit,runtime_error
# needs: root
# defence: cgroup_memory, job_limits

import socket
import time

block = b"x" * 65536


def fill():
    kept = 0
    pairs = []
    try:
        while True:
            pairs.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))
            pairs[-1][0].setblocking(False)
            try:
                while True:
                    kept += pairs[-1][0].send(block)
            except BlockingIOError:
                pass
    except OSError:
        pass
    try:
        while True:
            reader, writer = os.pipe2(os.O_NONBLOCK)
            kept += os.write(writer, block)
    except OSError:
        pass
    note(f"{kept >> 20} MiB")
    time.sleep(100_000)


for _ in range(8):
    if os.fork() == 0:
        fill()
for _ in range(8):
    os.wait()
