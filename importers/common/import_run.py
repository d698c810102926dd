"""Runs an import: all files of a benchmark, in a jail, with a report for each.

sys.exit(status_of("kernelbench", lambda: run(options)))

# In run(): each file is imported in one of `options.jobs` processes.
import_all(files, suite, jail, options, line)"""

from __future__ import annotations

import argparse
import queue
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any

from benchmark_file import GoldenFile
from checkout import BadFolder, Provenance
from import_exchange import Result
from import_jail import ImportJail, Limits, NoJail, Stopped
from suite_folder import SuiteFolder, SuiteName, UnusableSuite

UNAVAILABLE = 69  # an exit status of `assay` (docs/reference/cli.md)
REVISION_CHARS = 12  # of a commit, in the version of the suite
# What helps against each kind of failure. The keys are ErrorKinds and the importer's own kinds.
REMEDIES = {
    "timeout": "--timeout-s N gives each file more time",
    "memory_limit": "--memory-mib N gives each file more memory",
    "crash": "the reason shows the last line that the file printed",
    "unreadable": "check the file out again",
    "module_not_found": "install the module for ASSAY_PYTHON, or try another version of Triton",
    "import_error": "the installed version of Triton or torch lacks the name",
    "compilation_error": "the installed version of Triton does not compile the kernel",
    "no_call": "the importer finds calls of functions only in a test part that runs them",
}


def unreadable(golden: GoldenFile) -> Result:
    reason = f"unreadable: {golden.problem}"
    report = {"tier": "neither", "kind": "unreadable", "reason": reason, "calls": 0, "left_out": []}
    return Result({**report, "operators": [], "seconds": 0.0})


def import_all(
    files: list[GoldenFile],
    suite: SuiteFolder,
    jail: ImportJail,
    options: argparse.Namespace,
    shown: Callable[[dict[str, Any]], str],
) -> None:
    """Imports the files, the largest first: a large file may take longest, and should not be the
    last. Each report is kept and printed, as the text that `shown` returns, as soon as its file is
    done."""
    slots: queue.Queue[int] = queue.Queue()
    for slot in range(options.jobs):
        slots.put(slot)
    limits = Limits(options.timeout_s, options.memory_mib)

    def one(golden: GoldenFile) -> dict[str, Any]:
        if golden.problem:
            return suite.keep(golden, unreadable(golden))
        slot = slots.get()
        try:
            return suite.keep(golden, jail.import_file(slot, golden, limits, options.target))
        finally:
            slots.put(slot)

    with ThreadPoolExecutor(options.jobs) as pool:
        ordered = sorted(files, key=lambda golden: -len(golden.text))
        running: list[Future[dict[str, Any]]] = [pool.submit(one, golden) for golden in ordered]
        try:
            for done in as_completed(running):
                print(shown(done.result()), flush=True)
        except BaseException:
            jail.stop()
            raise


def suite_name(name: str, provenance: Provenance) -> SuiteName:
    """Returns the name of an imported suite; its version is the beginning of the commit."""
    return SuiteName(name, provenance.revision[:REVISION_CHARS])


def revision_note(provenance: Provenance, tried: str) -> str:
    """Returns a note if the checkout has another revision than the one that the importer was tried
    with, or "". Other revisions may have other files, whose operators may then be fewer."""
    found = provenance.revision
    if not found or found == tried:
        return ""
    return (
        f"the checkout is of revision {found[:REVISION_CHARS]}; the importer was tried with "
        f"{tried[:REVISION_CHARS]} (git checkout {tried[:REVISION_CHARS]})"
    )


def end_with_signals(stopped: threading.Event) -> None:
    """Makes the signals that end the import raise SystemExit in the main thread, so that all
    processes of the jail are ended."""

    def end(number: int, _: object) -> None:
        if not stopped.is_set():
            stopped.set()
            sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


def status_of(command: str, work: Callable[[], None]) -> int:
    """Runs an import, and returns the exit status of the command. A signal ends the import, as
    end_with_signals() describes."""
    end_with_signals(threading.Event())
    try:
        work()
    except (BadFolder, UnusableSuite) as error:
        print(f"assay import {command}: {error}", file=sys.stderr)
        return error.status
    except NoJail as error:
        print(f"assay import {command}: {error}", file=sys.stderr)
        return UNAVAILABLE
    except Stopped:
        return UNAVAILABLE
    return 0
