# attempt: creates event files, timers, pipes with large buffers and message queues
# expect: pass (the attempt gains nothing)
# needs: root
# defence: job_limits

import fcntl

F_SETPIPE_SZ = 1031
held = []


def make(number, *arguments):
    while len(held) < 4_096:
        held.append(syscall(number, *arguments))


for name, number, arguments in (
    ("eventfd2", 290, (0, 0)),
    ("epoll_create1", 291, (0,)),
    ("timerfd_create", 283, (1, 0)),
):
    denied(f"4,096 of {name}", make, number, *arguments)
    while held:
        os.close(held.pop())


def grow_pipes():
    for _ in range(400):
        held.extend(os.pipe())
        fcntl.fcntl(held[-1], F_SETPIPE_SZ, 1 << 20)


denied("400 pipes of 1 MiB", grow_pipes)
while held:
    os.close(held.pop())
denied("a POSIX message queue", syscall, 240, b"escape", os.O_CREAT | os.O_RDWR, 0o600, 0)
