# attempt: leaves a process in another session, which spoils the outputs 0.5 s after the last result
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: supervisor, pid_namespace

import gc
import time

add = vector_add
HAS_VALUES = []  # not empty in the process that has the tensors of cases
channel = next(item for item in gc.get_objects() if type(item).__name__ == "Channel")
send = channel.send


def outputs():
    paths = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    return [
        int(path.rsplit("/", 1)[1])
        for path in paths
        if os.path.islink(path) and "assay-outputs" in os.readlink(path)
    ]


def send_and_stay(header, payload=b"", fds=()):
    if header["type"] != "done" or not HAS_VALUES:
        return send(header, payload, fds)
    spoiled = outputs()
    if not spoiled:
        raise RuntimeError("there are no outputs to spoil")
    if os.fork() == 0:
        os.setsid()
        time.sleep(0.5)
        for fd in spoiled:
            os.pwrite(fd, b"x" * 4096, 0)
    else:
        send(header, payload, fds)
    time.sleep(1_000)


channel.send = send_and_stay


def vector_add(x, y):
    if not has_no_values(x):
        HAS_VALUES.append(True)
    return add(x, y)
