"""Makes system calls of a server, its judges or its launchers fail on command.

    faults = Faults(folder)
    server = subprocess.Popen(command, env=faults.environment(os.environ))
    faults.fail("server", "pipe2", errno.EMFILE, skip=3)  # the fourth call from now on fails
    ...
    assert faults.clear() == 1  # the number of calls that failed

The library inject.cc does the work in the processes. Both share the control block of inject.h."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARY = ROOT / "build/release/faults/libassay_faults.so"

# The layout of the control block, and the order of the functions, are those of inject.h and
# inject.cc.
ROLES = ("none", "server", "judge", "launcher")
CALLS = (
    "open", "read", "write", "pread", "pwrite", "fsync", "ftruncate", "fstat", "unlink", "mkdir",
    "rmdir", "opendir", "pipe2", "socketpair", "sendmsg", "recvmsg", "poll", "eventfd", "fcntl",
    "mmap", "memfd_create", "fork", "waitid", "syscall", "pthread_create", "fallocate", "dup",
    "execve",
)  # fmt: skip
MOST_CALLS = 64
WORDS = 8
SIZE = 4 * (WORDS + len(ROLES) * MOST_CALLS)
(ROLE, CALL, ERROR, SKIP, TIMES, SEEN, FIRED) = range(7)


class Faults:
    def __init__(self, folder: Path, library: Path = LIBRARY) -> None:
        self.path = folder / "faults"
        self.path.write_bytes(bytes(SIZE))
        self.library = library
        with self.path.open("r+b") as file:
            self.block = mmap.mmap(file.fileno(), SIZE)

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        return {**base, "LD_PRELOAD": str(self.library), "ASSAY_FAULTS": str(self.path)}

    def fail(self, role: str, call: str, error: int, skip: int = 0, times: int = 1) -> None:
        """From now on, `skip` calls of a function succeed, and the next `times` calls fail."""
        self._put(ROLE, 0)
        for word, value in (
            (CALL, CALLS.index(call)),
            (ERROR, error),
            (SKIP, skip),
            (TIMES, times),
            (SEEN, 0),
            (FIRED, 0),
            (ROLE, ROLES.index(role)),  # last: this word arms the fault
        ):
            self._put(word, value)

    def clear(self) -> int:
        """Removes the fault. Returns how often it struck."""
        self._put(ROLE, 0)
        return self._get(FIRED)

    def counts(self, role: str) -> dict[str, int]:
        """Returns how often the processes of a role have called each function since their start."""
        first = WORDS + ROLES.index(role) * MOST_CALLS
        return {call: self._get(first + number) for number, call in enumerate(CALLS)}

    def _put(self, word: int, value: int) -> None:
        struct.pack_into("<I", self.block, 4 * word, value)

    def _get(self, word: int) -> int:
        return int(struct.unpack_from("<I", self.block, 4 * word)[0])
