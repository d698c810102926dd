"""Lists the faults that matrix.py tries: system calls that fail, and processes that are killed.

calls = {"server": {"pipe2": 6}, "judge": {}}  # how often one job calls each function
faults = all_faults(calls, most=4, repeat=8) + traced_faults(most=4)
pairs = fault_pairs(calls, repeat=8)  # two faults in one job

The library of injection.py makes calls of the server and of its judges fail, and strace makes calls
of the sandboxed processes fail (tracing.py)."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass

# Which errors a function can report.
SERVER_ERRORS: dict[str, tuple[int, ...]] = {
    "open": (errno.EMFILE, errno.ENOMEM, errno.EIO),
    "read": (errno.EIO, errno.EINTR),
    "write": (errno.EIO, errno.ENOSPC, errno.EINTR),
    "pread": (errno.EIO,),
    "pwrite": (errno.ENOSPC, errno.EIO),
    "fsync": (errno.EIO, errno.ENOSPC),
    "ftruncate": (errno.ENOSPC, errno.EIO),
    "fallocate": (errno.ENOSPC,),
    "fstat": (errno.EIO,),
    "unlink": (errno.EIO,),
    "mkdir": (errno.ENOSPC, errno.ENOMEM),
    "rmdir": (errno.EBUSY,),
    "opendir": (errno.EMFILE,),
    "pipe2": (errno.EMFILE,),
    "socketpair": (errno.EMFILE, errno.ENOMEM),
    "sendmsg": (errno.ENOMEM, errno.EINTR),
    "recvmsg": (errno.ENOMEM, errno.EINTR),
    "poll": (errno.ENOMEM, errno.EINTR),
    "eventfd": (errno.EMFILE,),
    "fcntl": (errno.EMFILE,),
    "mmap": (errno.ENOMEM,),
    "memfd_create": (errno.EMFILE, errno.ENOMEM),
    "fork": (errno.EAGAIN, errno.ENOMEM),
    "execve": (errno.ENOMEM,),
    "waitid": (errno.EINTR,),
    "syscall": (errno.EMFILE, errno.ENOSYS),
    "pthread_create": (errno.EAGAIN,),
    "dup": (errno.EMFILE,),
}
JUDGE_ERRORS: dict[str, tuple[int, ...]] = {
    "open": (errno.EMFILE, errno.EIO),
    "read": (errno.EIO,),
    "sendmsg": (errno.ENOMEM,),
    "recvmsg": (errno.ENOMEM, errno.EINTR),
    "mmap": (errno.ENOMEM,),
    "memfd_create": (errno.EMFILE, errno.ENOMEM),
    "ftruncate": (errno.ENOSPC,),
    "fstat": (errno.EIO,),
    "syscall": (errno.EMFILE,),
    "poll": (errno.ENOMEM,),
}
LAUNCHER_ERRORS: dict[str, tuple[int, ...]] = {
    "open": (errno.EMFILE, errno.EIO),
    "read": (errno.EIO,),
    "write": (errno.EIO,),
    "sendmsg": (errno.ENOMEM, errno.EINTR),
    "recvmsg": (errno.ENOMEM, errno.EINTR),
    "mmap": (errno.ENOMEM,),
    "memfd_create": (errno.EMFILE, errno.ENOMEM),
    "ftruncate": (errno.ENOSPC,),
    "fstat": (errno.EIO,),
    "fcntl": (errno.EMFILE,),
    "mkdir": (errno.ENOSPC,),
    "pipe2": (errno.EMFILE,),
    "fork": (errno.EAGAIN,),
    "syscall": (errno.EMFILE, errno.ENOSYS),
    "poll": (errno.ENOMEM, errno.EINTR),
    "pthread_create": (errno.EAGAIN,),
}
ERRORS = {"server": SERVER_ERRORS, "judge": JUDGE_ERRORS, "launcher": LAUNCHER_ERRORS}
# System calls of a zygote, and of a candidate that waits for its job.
TRACED_ERRORS: dict[str, dict[str, tuple[int, ...]]] = {
    "zygote": {
        "clone": (errno.EAGAIN, errno.ENOMEM),
        "unshare": (errno.ENOSPC,),
        "pidfd_open": (errno.EMFILE,),
        "recvmsg": (errno.ENOMEM, errno.EINTR),
        "sendmsg": (errno.ENOMEM, errno.EINTR),
        "poll": (errno.ENOMEM, errno.EINTR),
        "waitid": (errno.EINTR,),
    },
    "candidate": {
        "openat": (errno.EMFILE, errno.EIO, errno.ENOMEM),
        "read": (errno.EIO, errno.EINTR),
        "newfstatat": (errno.EIO,),
        "mkdir": (errno.ENOSPC,),
        "write": (errno.ENOSPC, errno.EIO, errno.EINTR),
        "getdents64": (errno.EIO,),
        "fcntl": (errno.EMFILE,),
        "mmap": (errno.ENOMEM,),
        "recvmsg": (errno.ENOMEM, errno.EINTR),
        "sendmsg": (errno.ENOMEM, errno.EINTR),
    },
}
# How many calls succeed before the one that fails. A zygote makes each call at least once for a job.
TRACED_SKIPS = {"zygote": (0,), "candidate": (0, 1, 2, 4, 8, 16, 32, 64)}
# These calls also send and map hidden cases. A candidate that has received hidden cases gets no
# second attempt (docs/reference/verdict.md), so only earlier calls fail.
BEFORE_HIDDEN_CASES = {"recvmsg": (0, 1, 2, 3, 4), "sendmsg": (0, 1, 2), "mmap": (0, 1, 2)}
ROLES_TO_KILL = ("zygote", "candidate", "judge")
STAGES = ("queue", "import", "record", "run", "judge")
KILLED_AFTER_S = [step / 10 for step in range(1, 16)]  # a slowed job takes about 1.5 s

# Two faults in one job: one of these processes is killed in one of these stages, and one of these
# calls fails.
STAGES_OF_PAIRS = ("import", "run", "judge")
CALLS_OF_PAIRS = (
    ("server", "pwrite", errno.ENOSPC),
    ("server", "fsync", errno.EIO),
    ("server", "open", errno.EMFILE),
    ("server", "pipe2", errno.EMFILE),
    ("server", "socketpair", errno.EMFILE),
    ("server", "memfd_create", errno.EMFILE),
    ("server", "sendmsg", errno.ENOMEM),
    ("server", "pthread_create", errno.EAGAIN),
    ("judge", "memfd_create", errno.EMFILE),
    ("judge", "recvmsg", errno.ENOMEM),
)


@dataclass(frozen=True)
class Fault:
    """One system call that fails, or one process that is killed."""

    role: str
    call: str = ""  # empty: the process is killed
    error: int = 0
    skip: int = 0
    times: int = 1
    stage: str = ""  # the stage in which the process is killed, or
    after_s: float = 0.0  # the time after which it is killed

    def __str__(self) -> str:
        if not self.call:
            return f"kill -9 of the {self.role} {self.moment}"
        often = "" if self.times == 1 else f", {self.times} times"
        return (
            f"{self.call} of the {self.role} fails with {errno.errorcode[self.error]}, after "
            f"{self.skip} calls{often}"
        )

    @property
    def is_traced(self) -> bool:
        return bool(self.call) and self.role in TRACED_ERRORS

    @property
    def moment(self) -> str:
        return f"in stage {self.stage}" if self.stage else f"after {self.after_s:.1f} s"


def positions(count: int, most: int) -> list[int]:
    """Returns at most `most` of the numbers below `count`, evenly spread, with the first and last."""
    if count <= most:
        return list(range(count))
    return sorted({round(step * (count - 1) / (most - 1)) for step in range(most)})


def all_faults(
    calls: dict[str, dict[str, int]],
    most: int,
    repeat: int,
    to_kill: Sequence[str] = ROLES_TO_KILL,
) -> list[Fault]:
    """Returns a fault for each function, error and position, and a kill for each role and stage.
    Each failure comes once, and again `repeat` times in a row, which outlasts the second attempt
    of a job."""
    found = []
    for role in calls:
        for call, numbers in ERRORS[role].items():
            for error in numbers:
                for skip in positions(calls[role].get(call, 0), most):
                    found.append(Fault(role, call, error, skip))
                if calls[role].get(call, 0) and error != errno.EINTR:
                    found.append(Fault(role, call, error, 0, repeat))
    stages = (*STAGES, "launch") if "launcher" in to_kill else STAGES
    for role in to_kill:
        found += [Fault(role, stage=stage) for stage in stages]
        found += [Fault(role, after_s=after_s) for after_s in KILLED_AFTER_S]
    return found


def traced_faults(most: int) -> list[Fault]:
    """Returns a fault for each system call of the sandboxed processes, error and position."""
    found = []
    for role, errors in TRACED_ERRORS.items():
        for call, numbers in errors.items():
            skips = TRACED_SKIPS[role]
            if role == "candidate":
                skips = BEFORE_HIDDEN_CASES.get(call, skips)
            chosen = [skips[at] for at in positions(len(skips), most)]
            found += [Fault(role, call, error, skip) for error in numbers for skip in chosen]
    return found


def fault_pairs(calls: dict[str, dict[str, int]], repeat: int) -> list[tuple[Fault, Fault]]:
    """Returns pairs of a kill and a call that fails in the same job. The call fails in the middle of
    the job, and again from the middle on `repeat` times in a row."""
    failing = [
        Fault(role, call, error, calls[role].get(call, 0) // 2, times)
        for role, call, error in CALLS_OF_PAIRS
        for times in (1, repeat)
    ]
    kills = [Fault(role, stage=stage) for role in ROLES_TO_KILL for stage in STAGES_OF_PAIRS]
    return [(kill, failure) for kill in kills for failure in failing]
