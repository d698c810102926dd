"""Measures the cost of graded submissions. Submits every oracle, judges it on public and hidden
cases, and adds up the time of each stage.

    python measurements/grading.py --out measurements/results/grading-h200.json

`gpu_alone_s` is the time for which the job had the GPU alone. Four stages use the GPU: `launch`,
`judge` (inputs and first comparisons), `baseline` (timing the oracle and PyTorch) and `recheck`
(comparing outputs after each timed block); `gpu_s` is their sum, and in a part of it other jobs can
use the GPU too. `times` contains four medians in nanoseconds: of all samples of the submission, of
its first runs on new inputs, of the oracle's samples, and of the submission's fresh samples.

With `--rounds 2`, each operator is submitted again after all have been. Then the server knows times of
PyTorch and of the oracles, as it does for most submissions of a bench.

The file is written again after each submission, and once more if a signal ends the measurement. So
it always contains what is measured. `chosen` is how many submissions a whole measurement has."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import Any

from environment import environment
from operator_folders import operator_folders
from stdio_client import StdioClient, serve_command

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/common"))
from tool_calls import verdict_of  # noqa: E402

SIGNALS = (signal.SIGINT, signal.SIGTERM)
ON_THE_GPU = ("launch", "judge", "baseline", "recheck")


def submit(client: StdioClient, run: str, folder: Path, number: int = 0) -> dict[str, Any]:
    begin = time.perf_counter()
    arguments = {"operator": folder.name, "code": (folder / "oracle.py").read_text(), "run": run}
    answer = verdict_of(client, "submit", arguments)
    wall_s = time.perf_counter() - begin
    return {"operator": folder.name, "round": number, "wall_s": wall_s, "job": answer["job"]}


def add_verdicts(graded: list[dict[str, Any]], store: Path) -> None:
    """Adds the stored verdicts to the submissions that have none. The answers of `submit` have
    neither hidden cases nor the times of stages. A submission keeps `job` until its verdict is
    stored."""
    missing = [one for one in graded if "job" in one]
    if not missing:
        return
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    for one in missing:
        row = database.execute(
            "SELECT document FROM verdicts WHERE job = ?", (one["job"],)
        ).fetchone()
        if row is not None:
            one.update(figures(json.loads(row[0])))
            del one["job"]
    database.close()


def figures(verdict: dict[str, Any]) -> dict[str, Any]:
    timed = [case for case in verdict["cases"] if case.get("latency")]
    keys = ("outcome", "error_kind", "tier", "perf", "stage_ms", "gpu_alone_ms", "launch", "hints")
    return {
        "cases": len(verdict["cases"]),
        "samples": {case["id"]: samples_of(case) for case in timed},
        "times": {case["id"]: times_of(case) for case in timed},
        **{key: verdict.get(key) for key in keys},
    }


def times_of(case: dict[str, Any]) -> list[float | None]:
    latency, oracle = case["latency"], case.get("baseline_latency") or {}
    return [
        latency["median_ns"],
        latency.get("first_run_ns"),
        oracle.get("median_ns"),
        latency.get("fresh_ns"),
    ]


def samples_of(case: dict[str, Any]) -> dict[str, int]:
    """Returns how many samples of the submission and of its oracle count."""
    oracle = case.get("baseline_latency") or {}
    return {
        "submission": len(case["latency"].get("samples_ns", [])),
        "oracle": len(oracle.get("samples_ns", [])),
    }


def worked_ms(one: dict[str, Any]) -> float:
    return sum(ms for stage, ms in one["stage_ms"].items() if stage != "queue")


def alone_s(passed: list[dict[str, Any]]) -> float:
    return statistics.median(one["gpu_alone_ms"] or 0 for one in passed) / 1e3


def summary(graded: list[dict[str, Any]]) -> dict[str, Any]:
    passed = [one for one in graded if one.get("outcome") == "pass"]
    if not passed:
        return {"submissions": len(graded), "passed": 0}
    gpu_s = [sum(one["stage_ms"].get(stage, 0) for stage in ON_THE_GPU) / 1e3 for one in passed]
    return {
        "submissions": len(graded),
        "passed": len(passed),
        "wall_s": statistics.median(one["wall_s"] for one in passed),
        "gpu_s": statistics.median(gpu_s),
        "gpu_alone_s": alone_s(passed),
        "gpu_alone_s_of_rounds": [
            alone_s([one for one in passed if one["round"] == number])
            for number in sorted({one["round"] for one in passed})
        ],
        "gpu_s_each": {
            one["operator"]: round(seconds, 2) for one, seconds in zip(passed, gpu_s, strict=True)
        },
        "stage_ms": {
            stage: statistics.median(one["stage_ms"].get(stage, 0) for one in passed)
            for stage in passed[0]["stage_ms"]
        },
        "recheck_share": statistics.median(
            one["stage_ms"].get("recheck", 0) / worked_ms(one) for one in passed
        ),
        "perf": {one["operator"]: one["perf"] for one in passed},
    }


class Grading:
    """The submissions so far, and the file that they are written to."""

    def __init__(self, out: Path, store: Path, chosen: int) -> None:
        self._out, self._store, self._chosen = out, store, chosen
        self._graded: list[dict[str, Any]] = []
        # This takes seconds, which a measurement that is stopped has no longer.
        self._environment = environment()

    def add(self, submission: dict[str, Any]) -> None:
        self._graded.append(submission)
        self.write()

    def write(self) -> dict[str, Any]:
        """Writes the file, unless there is no submission yet. Returns the summary."""
        add_verdicts(self._graded, self._store)
        found = summary(self._graded)
        if not self._graded:
            return found
        document = {
            "what": __doc__,
            "summary": found,
            "chosen": self._chosen,
            "environment": self._environment,
            "graded": self._graded,
        }
        self._out.parent.mkdir(parents=True, exist_ok=True)
        whole = self._out.with_name(self._out.name + ".new")
        whole.write_text(json.dumps(document, indent=1) + "\n")
        whole.replace(self._out)  # so that a signal leaves the old file or the new one
        return found


def end(number: int, _: FrameType | None) -> None:
    for again in SIGNALS:
        signal.signal(again, signal.SIG_IGN)  # the file is being written
    raise SystemExit(128 + number)


def close(client: StdioClient) -> None:
    """Ends the server, which may still have a submission, or may have got the same signal."""
    try:
        client.close()
    except (subprocess.TimeoutExpired, BrokenPipeError):
        client.process.kill()
        client.process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--operators", nargs="*", default=[])
    parser.add_argument(
        "--seconds", type=float, default=3600, help="no submission starts after this time"
    )
    parser.add_argument("--rounds", type=int, default=1, help="submissions of each operator")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    chosen = operator_folders(options.operators)
    for number in SIGNALS:
        signal.signal(number, end)
    with tempfile.TemporaryDirectory() as folder:
        command = serve_command(options.binary, options.device, f"{folder}/assay.db")
        grading = Grading(options.out, Path(folder) / "assay.db", options.rounds * len(chosen))
        client = StdioClient(command, {**os.environ, "ASSAY_STATE_DIR": f"{folder}/state"})
        try:
            run = client.call(
                "start_run", {"agent": "bench", "model": "none", "track": "practice"}
            )["structuredContent"]["run"]
            submit(client, run, chosen[0])  # starts the pool
            last_start = time.monotonic() + options.seconds
            for number in range(options.rounds):
                for one in chosen:
                    if time.monotonic() < last_start:
                        grading.add(submit(client, run, one, number))
        finally:
            try:
                grading.write()  # because the end of the server may take long
            finally:
                close(client)
            found = grading.write()  # with verdicts that were stored late
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
