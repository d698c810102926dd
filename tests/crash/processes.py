"""Finds a server's processes in /proc, and what ended processes have left behind. Tests that kill
processes use this file."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

ROLES = ("zygote", "candidate", "judge", "launcher")


def command_line(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    return []


def parent_of(pid: int) -> int:
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def descendants(root: int) -> list[int]:
    """Returns all descendants of a process: first its children, then their children, and so on."""
    children: dict[int, list[int]] = {}
    for pid in all_pids():
        children.setdefault(parent_of(pid), []).append(pid)
    found, todo = [], [root]
    while todo:
        todo = [child for pid in todo for child in children.get(pid, [])]
        found += todo
    return found


def role_of(pid: int, zygotes: list[int]) -> str:
    """Returns the role of a process, which is one of ROLES. Returns an empty text for helper
    processes, such as the jail's outer process."""
    words = command_line(pid)
    if "judge" in words:
        return "judge"
    if words and words[0].endswith("assay-launcher"):
        return "launcher"
    if "zygote" in words and words[0].endswith("assay-jail"):
        return ""
    if "zygote" in words:
        # A candidate is a fork of its zygote and has the same command line. Only the parent process
        # tells the two apart.
        return "candidate" if parent_of(pid) in zygotes else "zygote"
    return ""


def by_role(server: int) -> dict[str, list[int]]:
    pids = descendants(server)
    python_zygotes = [
        pid
        for pid in pids
        if "zygote" in command_line(pid) and not command_line(pid)[0].endswith("assay-jail")
    ]
    roles: dict[str, list[int]] = {role: [] for role in ROLES}
    for pid in pids:
        if role := role_of(pid, python_zygotes):
            roles[role].append(pid)
    return roles


def kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def survivors(marker: str) -> list[str]:
    """Returns the command lines of live processes that have `marker` in their arguments or
    environment. The state directory of a server is a good marker."""
    found = []
    for pid in all_pids():
        with contextlib.suppress(OSError):
            environment = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
            words = command_line(pid)
            if (
                pid != os.getpid()
                and words
                and (marker in environment or any(marker in word for word in words))
            ):
                found.append(" ".join(words)[:200])
    return found


def survivors_after(marker: str, wait_s: float = 30.0) -> list[str]:
    """Waits until no process has `marker`, but at most `wait_s` seconds. Returns the command lines
    of the processes that are still alive."""
    deadline = time.monotonic() + wait_s
    while (left := survivors(marker)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def leftovers(servers: list[int]) -> dict[str, set[str]]:
    """Returns the objects of each kind that a server could leave behind: the mounts of this
    namespace, the files in shared memory, the cgroups of these servers, the System V objects."""
    groups = {
        str(path)
        for pid in servers
        for path in Path("/sys/fs/cgroup").rglob(f"assay-{pid}-*")
        if path.is_dir()
    }
    system_v = set()
    for kind in ("shm", "msg", "sem"):
        with contextlib.suppress(OSError):
            system_v |= {
                f"{kind} {line.split()[1]}"
                for line in Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
            }
    mounts = {
        line.split(" ", 5)[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()
    }
    return {
        "mounts": mounts,
        "shared memory": set(os.listdir("/dev/shm")),
        "cgroups": groups,
        "System V": system_v,
    }
