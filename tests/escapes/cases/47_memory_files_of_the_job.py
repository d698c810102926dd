# attempt: resizes and seals the memory files that the judge maps, and makes a FIFO for a result
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: frames, seccomp

import fcntl

F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
add = vector_add  # the job gets its memory files with the cases, after the import


def attack():
    files = [
        int(name)
        for name in os.listdir("/proc/self/fd")
        if os.path.islink(f"/proc/self/fd/{name}")
        and "memfd" in os.readlink(f"/proc/self/fd/{name}")
    ]
    require("the job's tensors came in memory files", len(files) >= 1)
    for fd in files:
        denied(f"shrinking {os.readlink(f'/proc/self/fd/{fd}')}", os.ftruncate, fd, 0)
        denied(f"growing {os.readlink(f'/proc/self/fd/{fd}')}", os.ftruncate, fd, 1 << 40)
    for fd in files:
        denied(
            f"another seal on {os.readlink(f'/proc/self/fd/{fd}')}",
            fcntl.fcntl,
            fd,
            F_ADD_SEALS,
            F_SEAL_SHRINK,
        )
    denied("a FIFO where a result might be read", os.mkfifo, "/tmp/result.json")


def vector_add(x, y):
    if not has_no_values(x):
        attack()
    return add(x, y)
