# attempt: the reference of an imported suite reads, writes and connects outside of its folder
# expect: pass (the attempts gain nothing)
# needs: nothing
# defence: root_filesystem, job_network_namespace, pid_namespace, seccomp, environment

import ctypes
import os
import socket

CANARIES: dict = {}
GOT_THROUGH: list = []


def _denied(what, attempt, *arguments):
    try:
        result = attempt(*arguments)
    except OSError:
        return
    GOT_THROUGH.append(f"{what} gave {result!r:.80}")


def _connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as channel:
        channel.settimeout(2)
        channel.connect(address)


def _write(path):
    with open(path, "w") as stream:
        stream.write("x")


def _system_call(number, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(one) for one in arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def _attempts():
    own = os.path.dirname(os.path.abspath(__file__))
    import harness

    _denied("reading a secret file", open, CANARIES["file"])
    _denied("listing the folder of the secret", os.listdir, os.path.dirname(CANARIES["file"]))
    _denied("reading the users", open, "/etc/passwd")
    _denied("a connection to TCP", _connect, socket.AF_INET, tuple(CANARIES["tcp"][0]))
    _denied("a connection to a path", _connect, socket.AF_UNIX, CANARIES["path"])
    _denied(
        "a connection to an abstract name", _connect, socket.AF_UNIX, "\0" + CANARIES["abstract"]
    )
    for folder in (
        own,
        os.path.dirname(own),
        os.path.dirname(harness.__file__),
        "/",
        "/usr",
        "/etc",
    ):
        _denied(f"writing to {folder}", _write, os.path.join(folder, "written"))
    _denied("ptrace", _system_call, 101, 16, 1, 0, 0)
    _denied("unshare of a user namespace", _system_call, 272, 0x10000000, 0, 0, 0)
    if CANARIES["variable"] in os.environ:
        GOT_THROUGH.append("the environment has the server's secret")
    others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    if os.getpid() == 1 and others:
        GOT_THROUGH.append(f"/proc shows the processes {others}")
    if any(name.startswith("nvidia") for name in os.listdir("/dev")):
        GOT_THROUGH.append("a judge of the CPU has a GPU")
    _write("/tmp/written")  # the judge's own folder
    if GOT_THROUGH:
        raise RuntimeError("got through: " + "; ".join(GOT_THROUGH))


_attempts()
