"""Writes the page of matrix.py: what became of verdicts while something else failed."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Sequence

from trials import Trial


def told(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "-"


def pairs_page(trials: Sequence[Trial]) -> str:
    """Returns the generated page about pairs: one row for each kill and each call."""
    rows: dict[tuple[str, str, str], dict[bool, Counter[str]]] = {}
    for trial in trials:
        if not trial.struck or trial.second is None:
            continue
        what = (
            f"{trial.fault.role} {trial.fault.moment}",
            f"`{trial.second.call}` of the {trial.second.role}, "
            f"{errno.errorcode[trial.second.error]}",
            "once" if trial.second.times == 1 else f"{trial.second.times} times",
        )
        rows.setdefault(what, {True: Counter(), False: Counter()})[trial.correct][
            trial.outcome
        ] += 1
    lines = [
        f"| {killed} | {call} | {often} | {told(counts[True])} | {told(counts[False])} |"
        for (killed, call, often), counts in rows.items()
    ]
    struck = sum(1 for trial in trials if trial.struck)
    return "\n".join(
        [
            "# Faults: what a verdict becomes when two things fail",
            "",
            "`./run faults --pairs` writes this page. In each trial a process is killed, and a call",
            "of the server or of a judge fails in the middle of the same job. The job and the rules",
            "are those of [one fault](faults.md).",
            "",
            f"Both faults struck in {struck} of {len(trials)} trials; "
            f"{sum(1 for trial in trials if trial.problem)} verdicts were wrong.",
            "",
            "| killed process | call, error | how often | correct submission | wrong submission |",
            "|---|---|---|---|---|",
            *lines,
            "",
        ]
    )


def rows_of(trials: Sequence[Trial]) -> list[str]:
    """Returns the lines of a table: one for each function, error and role, or for each kill."""
    rows: dict[tuple[str, str, str], dict[bool, Counter[str]]] = {}
    for trial in trials:
        if not trial.struck:
            continue
        fault = trial.fault
        what = (
            (fault.role, f"`{fault.call}`", errno.errorcode[fault.error])
            if fault.call
            else (fault.role, "`kill -9`", fault.moment)
        )
        rows.setdefault(what, {True: Counter(), False: Counter()})[trial.correct][
            trial.outcome
        ] += 1
    struck = sum(1 for trial in trials if trial.struck)
    return [
        f"{struck} faults struck; {sum(1 for trial in trials if trial.problem)} verdicts were wrong.",
        "",
        "| process | call | error | correct submission | wrong submission |",
        "|---|---|---|---|---|",
        *(
            f"| {role} | {call} | {error} | {told(counts[True])} | {told(counts[False])} |"
            for (role, call, error), counts in rows.items()
        ),
        "",
    ]


def page(trials: Sequence[Trial]) -> str:
    """Returns the generated page about one fault in each job."""
    return "\n".join(
        [
            "# Faults: what a verdict becomes when something else fails",
            "",
            "`./run faults` writes this page. Each trial makes one system call fail, or",
            "kills one process, while a job of `vector_add` runs on the device `cpu`. A correct",
            "submission may pass, and a wrong one may fail. Both may end as `internal_error`, which",
            "is not charged, or be `refused` before a job exists. The numbers count trials. For",
            "zygotes and candidates, the system calls fail by strace, once for each trial.",
            "",
            *rows_of(trials),
        ]
    )


def launcher_page(trials: Sequence[Trial]) -> str:
    """Returns the generated page about faults of launchers and of the server beside them."""
    return "\n".join(
        [
            "# Faults: what a verdict becomes when a launcher fails",
            "",
            "`./run faults --launcher` writes this page. The server is that of [one",
            "fault](faults.md), with the device `cuda:0` and launchers. A fake driver is in the",
            "place of the GPU's driver, so the page says nothing about failures inside a real",
            "driver. Each trial makes one system call of a launcher, of the server or of a judge",
            "fail, or kills one process. The rules are those of one fault; a launcher or a device",
            "that cannot be used may also end a job as `device_unhealthy`, which is not charged.",
            "",
            *rows_of(trials),
        ]
    )
