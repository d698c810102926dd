"""Measures what the processors do while a server is under load. A rate that stays below a target
can have three causes: the processors are busy, the kernel is busy for the jobs (page faults, forks),
or the jobs wait for each other. The figures tell these causes apart:

    with ProcessorUse(server.process.pid) as use:
        ...  # the load
    use.result  # {"cores": 16, "user": 9.1, "system": 3.2, "idle": 3.5, ...}

`user`, `system`, `idle`, `io` and `steal` are processors of the whole machine, so their sum is the
number of processors. `by_role` says how many of them the processes of the server use, and
`faults_by_role` how many page faults they have in a second. Clients and other programs are not part
of it. The role `candidate` includes the candidates that have ended, and the compilers that they
started. `ended` are the launchers and judges that have ended."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/crash"))
import processes  # noqa: E402

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# The columns of /proc/stat (proc_stat(5)) that make up each figure.
MODES = {"user": (0, 1), "system": (2, 5, 6), "idle": (3,), "io": (4,), "steal": (7,)}
PAUSES = ("cpu", "memory", "io")


class Use(NamedTuple):
    """What processes have used: processor seconds, and page faults that read nothing from a disk."""

    seconds: float = 0.0
    faults: int = 0

    def plus(self, other: Use) -> Use:
        return Use(self.seconds + other.seconds, self.faults + other.faults)


class Moment(NamedTuple):
    """The counters at one time."""

    at_s: float
    machine: dict[str, float]
    roles: dict[str, Use]
    events: dict[str, int]
    stalls_us: dict[str, int]


def machine_seconds(stat: str) -> dict[str, float]:
    """Returns the processor seconds of each mode, from the text of /proc/stat."""
    columns = [int(word) for word in stat.splitlines()[0].split()[1:]]
    return {
        mode: sum(columns[place] for place in places) / TICKS_PER_S
        for mode, places in MODES.items()
    }


def own_and_ended_use(stat: str) -> tuple[Use, Use]:
    """Returns what a process has used, and what its children that have ended have used, from the
    text of /proc/PID/stat."""
    fields = stat.rpartition(")")[2].split()
    faults, ended_faults = map(int, fields[7:9])
    user, system, ended_user, ended_system = map(int, fields[11:15])
    return (
        Use((user + system) / TICKS_PER_S, faults),
        Use((ended_user + ended_system) / TICKS_PER_S, ended_faults),
    )


def role_use(server: int) -> dict[str, Use]:
    """Returns what the server's processes have used, by role."""
    found: dict[str, Use] = {}
    for role, pids in {**processes.by_role(server), "server": [server]}.items():
        # The kernel adds the time of an ended process to its parent's time of ended children.
        ended_role = {"server": "ended", "zygote": "candidate", "candidate": "candidate"}.get(role)
        for pid in pids:
            with contextlib.suppress(OSError):  # the process has ended since it was listed
                own, ended = own_and_ended_use(Path(f"/proc/{pid}/stat").read_text())
                found[role] = found.get(role, Use()).plus(own)
                if ended_role:
                    found[ended_role] = found.get(ended_role, Use()).plus(ended)
    return found


def events() -> dict[str, int]:
    """Returns how many page faults and switches between processes the machine has had."""
    text = Path("/proc/vmstat").read_text() + Path("/proc/stat").read_text()
    words = dict(line.split()[:2] for line in text.splitlines())
    return {
        "page_faults": int(words["pgfault"]),
        "switches": int(words["ctxt"]),
        "forks": int(words["processes"]),
    }


def stalls_us() -> dict[str, int]:
    """Returns for how many microseconds some process had to wait for a resource. A kernel without
    this information gives an empty result."""
    found = {}
    for resource in PAUSES:
        with contextlib.suppress(OSError):
            line = Path(f"/proc/pressure/{resource}").read_text().splitlines()[0]
            found[resource] = int(line.rpartition("total=")[2])
    return found


def moment(server: int) -> Moment:
    machine = machine_seconds(Path("/proc/stat").read_text())
    return Moment(time.monotonic(), machine, role_use(server), events(), stalls_us())


def between(begin: Moment, end: Moment) -> dict[str, Any]:
    """Returns the figures of the time between two moments."""
    took_s = end.at_s - begin.at_s
    modes = {mode: end.machine[mode] - begin.machine[mode] for mode in MODES}
    return {
        "cores": os.cpu_count(),
        "took_s": round(took_s, 2),
        **{mode: round(seconds / took_s, 2) for mode, seconds in modes.items()},
        "by_role": {
            role: round((use.seconds - begin.roles.get(role, Use()).seconds) / took_s, 2)
            for role, use in end.roles.items()
        },
        "faults_by_role": {
            role: round((use.faults - begin.roles.get(role, Use()).faults) / took_s)
            for role, use in end.roles.items()
        },
        **{
            f"{name}_per_s": round((count - begin.events[name]) / took_s)
            for name, count in end.events.items()
        },
        "stalled": {
            resource: round((total - begin.stalls_us[resource]) / took_s / 1e6, 3)
            for resource, total in end.stalls_us.items()
        },
    }


class ProcessorUse:
    """Measures between the begin and the end of a `with` block. `result` is there after it."""

    def __init__(self, server: int) -> None:
        self._server = server
        self.result: dict[str, Any] = {}

    def __enter__(self) -> ProcessorUse:
        self._begin = moment(self._server)
        return self

    def __exit__(self, *_: object) -> None:
        self.result = between(self._begin, moment(self._server))
