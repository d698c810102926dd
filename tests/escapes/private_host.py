"""Becomes a command on a host of its own: private /tmp, /dev/shm and System V objects, so that what others on the machine do meanwhile is
not taken for a leak of the sandbox.

    python private_host.py COMMAND...

Needs root. Exit status 3 when the namespaces cannot be made.
"""

from __future__ import annotations

import ctypes
import os
import sys

CLONE_NEWNS, CLONE_NEWIPC = 0x00020000, 0x08000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000


def main(command: list[str]) -> int:
    libc = ctypes.CDLL(None, use_errno=True)

    def check(result: int, what: str) -> None:
        if result != 0:
            error = ctypes.get_errno()
            raise OSError(error, f"{what}: {os.strerror(error)}")

    try:
        check(libc.unshare(CLONE_NEWNS | CLONE_NEWIPC), "unshare")
        check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount --make-rprivate /")
        for folder in (b"/tmp", b"/dev/shm"):
            check(libc.mount(b"tmpfs", folder, b"tmpfs", 0, b"size=1g,mode=1777"), f"mount tmpfs on {folder.decode()}")
    except OSError as error:
        print(f"private_host: {error}", file=sys.stderr)
        return 3
    os.execvp(command[0], command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
