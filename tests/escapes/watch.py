"""Checks the invariants of the escape suite: the numbers of processes, files and other objects,
which no submission may change. The class Watch counts these objects from outside the server.

    watch = Watch(server_pid, folder, private=True)  # after the server's warm-up
    broken = watch.settle(deadline_s=5)  # after a case: the differences that remain

A count may differ for a moment while the server replaces processes. So settle() waits until no
count differs, or until the deadline passes."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

LOGS = re.compile(
    r"(launcher-\d+\.\d+|zygote(-\d+)?)\.log"
)  # logs of the server's own processes; there is a fixed number of them

# The server keeps the last 512 verdicts and the last recordings in memory, about 20 KB for each of
# the three jobs of an attempt. A leak of 0.1 MiB in each attempt is found.
RSS_SLACK_BYTES = 16 << 20
# During the tests, the server may start this many additional threads: it starts another request
# worker if a call comes while all workers are busy. A leak would add more threads than this in a
# hundred cases.
THREAD_SLACK = 4
FIRST_SLOT_UID = 0x7000_0000  # sandbox/jail/namespaces.cc
POLL_S = 0.02


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def _kin(server: int) -> tuple[Counter[str], list[str], list[int]]:
    """Returns three things: the number of the server's descendants by name; the processes that must
    not exist (zombies, and jailed processes that are not descendants); and the children that must
    stay the same processes."""
    parents: dict[int, tuple[int, str, str, int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, KeyError, ValueError):
                status = _status(int(name))
                parents[int(name)] = (
                    int(status["PPid"]),
                    status["Name"],
                    status["State"][:1],
                    int(status["Uid"].split()[0]),
                )
    family = {server}
    while grown := {
        pid for pid, (parent, *_) in parents.items() if parent in family and pid not in family
    }:
        family |= grown
    strays = []
    for pid, (_, name, state, uid) in parents.items():
        if pid in family and state == "Z":
            strays.append(f"zombie {name} ({pid})")
        if pid not in family and uid >= FIRST_SLOT_UID and _group_of(pid, server):
            strays.append(f"jailed process {name} ({pid}) outside the server's family")
    servants = sorted(
        pid
        for pid, (parent, name, *_) in parents.items()
        if parent == server and not name.startswith("assay-launcher")
    )
    return Counter(parents[pid][1] for pid in family - {server} if pid in parents), strays, servants


def launchers(server: int) -> int:
    """Returns the number of the server's launchers, also of those that have ended but still exist."""
    return _kin(server)[0]["assay-launcher"]


def _group_of(pid: int, server: int) -> bool:
    with contextlib.suppress(OSError):
        return f"assay-{server}-" in Path(f"/proc/{pid}/cgroup").read_text()
    return False


def cgroups(server: int) -> int:
    found = 0
    for hierarchy in Path("/sys/fs/cgroup").glob("*"):
        own = hierarchy / _own_group(hierarchy.name).lstrip("/")
        for folder in {hierarchy, own}:
            with contextlib.suppress(OSError):
                found += sum(
                    entry.name.startswith(f"assay-{server}-") for entry in os.scandir(folder)
                )
    with contextlib.suppress(OSError):
        found += sum(
            entry.name.startswith(f"assay-{server}-") for entry in os.scandir("/sys/fs/cgroup")
        )
    return found


def _own_group(controller: str) -> str:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, group = line.split(":", 2)
        if controller in names.split(",") or (not names and controller == "unified"):
            return group
    return "/"


def _ipc_objects(server: int) -> int:
    """Returns the number of System V objects in the server's ipc namespace. Only the process that
    counts them enters this namespace, by `nsenter`."""
    tables = [f"/proc/sysvipc/{kind}" for kind in ("shm", "sem", "msg")]
    done = subprocess.run(
        ["nsenter", "-t", str(server), "-i", "cat", *tables], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(f"nsenter: {done.stderr}")
    return len(done.stdout.splitlines()) - len(tables)


@dataclass(frozen=True)
class Snapshot:
    descriptors: int
    threads: int
    processes: tuple[tuple[str, int], ...]
    strays: tuple[str, ...]
    servants: tuple[int, ...]  # children that must not change: the zygote's jail and the judge
    cgroups: int
    mounts: int
    ipc: int
    files: frozenset[str]

    def differences(self, now: Snapshot) -> list[str]:
        found = [
            f"{name} was {then}, is {got}" for name, then, got in self._pairs(now) if then != got
        ]
        if now.threads > self.threads + THREAD_SLACK:
            found.append(f"threads were {self.threads}, are {now.threads}")
        found += [*now.strays]
        found += [f"{path} is new" for path in sorted(now.files - self.files)]
        return found

    def _pairs(self, now: Snapshot) -> list[tuple[str, object, object]]:
        names = ("descriptors", "processes", "servants", "cgroups", "mounts", "ipc")
        return [(name, getattr(self, name), getattr(now, name)) for name in names]


class Watch:
    """Watches one server. `state` is its state folder, in which no new file may appear after the
    warm-up. If `private` is true, the server has its own /tmp, /dev/shm and System V objects.
    Otherwise other processes use these too, so the watch ignores them."""

    def __init__(self, server: int, state: Path, private: bool) -> None:
        self.server, self.state, self.private = server, state, private
        self.rss = self._rss()
        self.before = self.snapshot()

    def snapshot(self) -> Snapshot:
        root = Path(f"/proc/{self.server}/root")
        folders = [self.state, *([root / "tmp", root / "dev/shm"] if self.private else [])]
        processes, strays, servants = _kin(self.server)
        status = _status(self.server)
        return Snapshot(
            descriptors=len(os.listdir(f"/proc/{self.server}/fd")),
            threads=int(status["Threads"]),
            processes=tuple(sorted(processes.items())),
            strays=tuple(strays),
            servants=tuple(servants),
            cgroups=cgroups(self.server),
            mounts=len(Path(f"/proc/{self.server}/mountinfo").read_text().splitlines()),
            ipc=_ipc_objects(self.server) if self.private else 0,
            files=frozenset(str(path) for folder in folders for path in _files(folder)),
        )

    def settle(self, deadline_s: float) -> list[str]:
        end = time.monotonic() + deadline_s
        while broken := self._differences():
            if time.monotonic() > end:
                return broken
            time.sleep(POLL_S)
        return []

    def _differences(self) -> list[str]:
        if not os.path.exists(f"/proc/{self.server}/status"):
            return ["the server is gone"]
        grown = self._rss() - self.rss
        found = (
            [f"the server's memory grew by {grown >> 20} MiB"] if grown > RSS_SLACK_BYTES else []
        )
        return found + self.before.differences(self.snapshot())

    def _rss(self) -> int:
        return int(_status(self.server)["VmRSS"].split()[0]) << 10


def _files(folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if not path.name.endswith(("-wal", "-shm", "-journal")) and not LOGS.fullmatch(path.name)
    ]
