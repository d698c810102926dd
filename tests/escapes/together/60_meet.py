# attempt: two jobs at once try to meet through shared memory, message queues, files and sockets
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_ipc_namespace, job_tmp, job_shm, job_network_namespace, pid_namespace

import socket
import time

KEY = 0x5EED
IPC_CREAT, IPC_EXCL = 0o1000, 0o2000
PORT = 45_454

mine = []


def claim(what, attempt):
    """Creates an object that both jobs try to create. If the jobs share the object's namespace, the
    second job finds the object of the first job."""
    try:
        mine.append(attempt())
        note(f"made {what}")
    except OSError as error:
        if error.errno in (_errno.EEXIST, _errno.EADDRINUSE):
            got_through(f"{what} of the other job is here")
        else:
            note(f"denied {what}: {_errno.errorcode[error.errno]}")


def listen(family, address):
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen()
    return listener


def bind_udp(address):
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(address)
    return receiver


claim("System V shared memory", lambda: syscall(29, KEY, 4096, IPC_CREAT | IPC_EXCL | 0o666))
claim("System V semaphores", lambda: syscall(64, KEY, 1, IPC_CREAT | IPC_EXCL | 0o666))
claim("a System V message queue", lambda: syscall(68, KEY, IPC_CREAT | IPC_EXCL | 0o666))
claim(
    "a POSIX message queue",
    lambda: syscall(240, b"meet", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666, 0),
)
claim("a file in /dev/shm", lambda: os.open("/dev/shm/meet", os.O_CREAT | os.O_EXCL | os.O_RDWR))
claim("a file in /tmp", lambda: os.open("/tmp/meet", os.O_CREAT | os.O_EXCL | os.O_RDWR))
claim("an abstract socket", lambda: listen(socket.AF_UNIX, "\0meet"))
claim("a UDP port of the loopback", lambda: bind_udp(("127.0.0.1", PORT)))
claim("a TCP port of the loopback", lambda: listen(socket.AF_INET, ("127.0.0.1", PORT)))
require(
    "no other process is in /proc",
    [name for name in os.listdir("/proc") if name.isdigit()] == [str(os.getpid())],
)
time.sleep(2.5)  # so that the two jobs overlap
