"""Runs a command in a private host: namespaces with their own /tmp, /dev/shm and System V objects.
So files of other processes on the machine do not look like leaks of the sandbox. On a machine
without a GPU, the private /dev has nodes with the names of GPU devices. Every user may open these
nodes. A submission that can open such a node could also open a real GPU.

    python private_host.py COMMAND...

Needs root. The exit status is 3 if the namespaces cannot be created."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable

CLONE_NEWNS, CLONE_NEWIPC = 0x00020000, 0x08000000
MS_BIND, MS_MOVE, MS_REC, MS_PRIVATE = 0x1000, 0x2000, 0x4000, 0x40000
NEW_DEV = "/tmp/dev"  # where the private /dev is prepared before it is moved to /dev
GPU_NODES = ("nvidiactl", "nvidia0", "nvidia-uvm", "nvidia-caps/nvidia-cap1")


def stand_ins(mount: Callable[..., None]) -> None:
    """Creates a /dev like the host's, but with GPU_NODES. Each of these nodes is /dev/null under
    another name."""
    os.mkdir(NEW_DEV)
    mount("tmpfs", NEW_DEV, "tmpfs", 0, "size=1m,mode=755")
    for entry in os.scandir("/dev"):
        shown = os.path.join(NEW_DEV, entry.name)
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), shown)
        elif entry.is_dir():
            os.mkdir(shown)
            mount(entry.path, shown, None, MS_BIND | MS_REC)
        else:
            show_as(mount, entry.path, shown)
    for name in GPU_NODES:
        os.makedirs(os.path.dirname(os.path.join(NEW_DEV, name)), exist_ok=True)
        show_as(mount, "/dev/null", os.path.join(NEW_DEV, name))
    mount(NEW_DEV, "/dev", None, MS_MOVE)
    os.rmdir(NEW_DEV)


def show_as(mount: Callable[..., None], source: str, target: str) -> None:
    with open(target, "x"):
        pass
    mount(source, target, None, MS_BIND)


def main(command: list[str]) -> int:
    libc = ctypes.CDLL(None, use_errno=True)

    def check(result: int, what: str) -> None:
        if result != 0:
            error = ctypes.get_errno()
            raise OSError(error, f"{what}: {os.strerror(error)}")

    def mount(
        source: str, target: str, kind: str | None, flags: int, options: str | None = None
    ) -> None:
        texts = [text.encode() if text is not None else None for text in (source, target, kind)]
        check(
            libc.mount(*texts, ctypes.c_ulong(flags), options.encode() if options else None),
            f"mount {source} on {target}",
        )

    try:
        check(libc.unshare(CLONE_NEWNS | CLONE_NEWIPC), "unshare")
        mount("none", "/", None, MS_REC | MS_PRIVATE)
        for folder in ("/tmp", "/dev/shm"):
            mount("tmpfs", folder, "tmpfs", 0, "size=1g,mode=1777")
        if not os.path.exists("/dev/nvidiactl"):
            stand_ins(mount)
    except OSError as error:
        print(f"private_host: {error}", file=sys.stderr)
        return 3
    os.execvp(command[0], command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
