# attempt: starts a process in another session, which punches holes into the outputs without end
# expect: fail:wrong_result
# needs: nothing
# defence: supervisor, pid_namespace, frames

import gc

channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
send = channel.send
KEEP_SIZE_AND_PUNCH, FALLOCATE = 3, 285


def outputs():
    paths = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    return [
        int(path.rsplit("/", 1)[1])
        for path in paths
        if os.path.islink(path) and "assay-outputs" in os.readlink(path)
    ]


def send_and_spoil(header, payload=b"", fds=()):
    if header["type"] == "done":
        ready, started = os.pipe()
        if os.fork() == 0:
            os.setsid()
            while True:
                for fd in outputs():
                    syscall(FALLOCATE, fd, KEEP_SIZE_AND_PUNCH, 0, os.fstat(fd).st_size)
                os.write(started, b"x")
        os.read(ready, 1)
    send(header, payload, fds)


channel.send = send_and_spoil
