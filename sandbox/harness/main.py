"""The main program of the sandbox's Python processes.

    python main.py zygote --control-fd N
    python main.py judge --socket-fd N --device cpu

The process inherits one connected `AF_UNIX` stream socket and exchanges frames on it. The exit
status is 0 if the supervisor closed the connection, 1 after a defect of this process, and 2 for a
wrong command line."""

import gc
import os
import sys

# This code must run before any other import. This folder contains a package `operator`. If the
# folder were the first entry of sys.path, the package would hide the standard library's module
# `operator`.
_here = os.path.dirname(os.path.abspath(__file__))
_above = os.path.dirname(_here)
sys.path[:] = [
    _above,
    *(entry for entry in sys.path if os.path.abspath(entry or ".") not in (_here, _above)),
]

# In the zygote, each numeric library may use only one thread. The zygote forks, and a forked child
# has only the thread that called fork.
if sys.argv[1:2] == ["zygote"]:
    for _name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ):
        os.environ[_name] = "1"


def close_inherited(keep: int) -> None:
    """Closes every descriptor that was inherited by accident. Otherwise the zygote's children would
    inherit these descriptors too."""
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd > 2 and fd != keep:
            try:
                os.close(fd)
            except OSError:
                pass  # the descriptor of the directory listing itself


def collect_from_now_on() -> None:
    """Excludes all objects that exist now from garbage collection, and turns garbage collection
    on."""
    gc.freeze()
    gc.enable()


def main(argv: list[str]) -> int:
    import argparse
    import traceback

    parser = argparse.ArgumentParser(prog="harness", description="A Python process of the sandbox.")
    roles = parser.add_subparsers(dest="role", required=True)
    zygote = roles.add_parser("zygote", help="imports torch and triton, then forks candidates")
    zygote.add_argument("--control-fd", type=int, required=True)
    judge = roles.add_parser("judge", help="makes inputs and compares outputs")
    judge.add_argument("--socket-fd", type=int, required=True)
    judge.add_argument("--device", default="cpu", help="cpu, cuda:N or hip:N")
    arguments = parser.parse_args(argv)
    from harness import torch_libraries

    gc.disable()  # until the imports have ended; collecting their little garbage is not worth it
    try:
        if arguments.role == "zygote":
            close_inherited(arguments.control_fd)
            torch_libraries.load()
            from harness.candidate import zygote as zygote_role

            collect_from_now_on()
            zygote_role.serve(arguments.control_fd)
        else:
            torch_libraries.load()
            from harness.judging import judge as judge_role

            collect_from_now_on()
            judge_role.serve(arguments.socket_fd, arguments.device)
    except ConnectionError:
        return 0  # the supervisor has closed the socket
    except Exception:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
