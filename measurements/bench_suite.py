"""Runs every reference agent over every operator with the simulated model, and measures how long
this takes. A maintainer of a benchmark waits for this time.

    # This command may take 25 minutes on 2 cores.
    python measurements/bench_suite.py --out measurements/results/bench-suite-cpu.json
    # This command may take 10 minutes.
    python measurements/bench_suite.py --device cuda:0 --jobs 28 \
        --out measurements/results/bench-suite-h200.json

One `assay bench` runs all pairs of agent and operator, as a user would start it. The result file
contains the wall time of each attempt, by agent and operator. For each kind of job it contains the
number of the server's jobs and the seconds of each stage. `--limit-s` ends a bench that takes
longer; the result then covers the finished attempts."""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from environment import environment

ROOT = Path(__file__).resolve().parent.parent
AGENTS = ("one_shot", "leader", "alphaevolve", "geak")
BUDGET_S = {"cpu": 25 * 60, "cuda:0": 10 * 60}
END_S = 20.0  # the time that the processes of a stopped bench have to end


def ends_of(journal: Path) -> list[dict[str, Any]]:
    # If the bench was stopped, the journal's last line may be incomplete. Such a line is skipped.
    whole = [line for line in journal.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [line for line in map(json.loads, whole) if line["kind"] == "finished"]


def summary_of(ends: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "attempts": len(ends),
        "model_calls": sum(end["replies"] for end in ends),
        "tool_calls": sum(end["tool_calls"] for end in ends),
        "outcomes": dict(Counter(end["outcome"] for end in ends)),
        "median_s": round(statistics.median(end["wall_ms"] for end in ends) / 1e3, 2),
        "longest": [
            [end["operator"], round(end["wall_ms"] / 1e3, 1)]
            for end in sorted(ends, key=lambda end: -end["wall_ms"])[:5]
        ],
    }


def work_of(store: Path) -> tuple[dict[str, Any], list[Any]]:
    """Returns the total cost of each kind of job, and a list of all jobs. Each entry of the list
    has operator, kind, tier, milliseconds of each stage, and Perf."""
    rows = (
        sqlite3.connect(store)
        .execute("SELECT operator, kind, tier, document FROM verdicts JOIN submissions USING (job)")
        .fetchall()
    )
    work: dict[str, Any] = {}
    each: list[Any] = []
    for operator, kind, tier, document in rows:
        of_kind = work.setdefault(
            kind, {"jobs": 0, "tiers": Counter(), "gpu_alone_s": 0, "stage_s": Counter()}
        )
        of_kind["jobs"] += 1
        of_kind["tiers"][tier] += 1
        verdict = json.loads(document)
        of_kind["gpu_alone_s"] += (verdict.get("gpu_alone_ms") or 0) / 1e3
        stages = verdict["stage_ms"]
        each.append(
            [
                operator,
                kind,
                tier,
                {stage: round(ms) for stage, ms in stages.items()},
                verdict.get("perf"),
            ]
        )
        for stage, ms in stages.items():
            of_kind["stage_s"][stage] += ms / 1e3
    for of_kind in work.values():
        of_kind["stage_s"] = {
            stage: round(seconds, 1) for stage, seconds in of_kind["stage_s"].items()
        }
    return work, each


def finished_in(process: subprocess.Popen[bytes], limit_s: float | None) -> bool:
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return False
    return True


def run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    command = [
        options.binary,
        "bench",
        "--model",
        options.model,
        "--jobs",
        str(options.jobs),
        "--device",
        options.device,
    ]
    command += [flag for agent in AGENTS for flag in ("--agent", agent)]
    command += ["--operators", options.operators] if options.operators else []
    command += options.sandbox.split()
    command += ["--store", str(folder / "assay.db"), "--out", str(folder / "out")]
    begin = time.perf_counter()
    with (folder / "stdout").open("w") as out, (folder / "stderr").open("w") as err:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=err,
            env={**os.environ, "ASSAY_STATE_DIR": str(folder / "state")},
        )
        through = finished_in(process, options.limit_s)
    wall_s = time.perf_counter() - begin
    if through and process.returncode != 0:
        raise SystemExit(
            f"the bench ended with {process.returncode}:\n"
            + (folder / "stderr").read_text()[-2000:]
        )
    ends = {
        journal.parent.name: ends_of(journal)
        for journal in sorted(folder.glob("out/*/journal.jsonl"))
    }
    table = (folder / "stdout").read_text()
    budget_s = BUDGET_S.get(options.device)
    jobs, each_job = work_of(folder / "assay.db")
    return {
        "command": " ".join(["assay", *command[1:-4]]),
        "wall_s": round(wall_s, 1),
        "budget_s": None if options.operators else budget_s,
        "through": through,
        "jobs": jobs,
        "pairs": {name: summary_of(of_pair) for name, of_pair in ends.items() if of_pair},
        "comparison": table[table.index("Comparison") :].splitlines() if through else [],
        "attempts_s": {
            name: {end["operator"]: round(end["wall_ms"] / 1e3, 2) for end in of_pair}
            for name, of_pair in ends.items()
        },
        "each_job": each_job,
    }


def text_of(document: dict[str, Any]) -> str:
    """Returns the result file's text, with one line for each of the thousands of jobs."""
    rows = ",\n  ".join(json.dumps(job) for job in document["each_job"])
    return (
        json.dumps({**document, "each_job": []}, indent=1).replace(
            '"each_job": []', f'"each_job": [\n  {rows}\n ]'
        )
        + "\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--sandbox", default="", help="options of the server that is started, e.g. '--gpu-jobs 20'"
    )
    parser.add_argument("--model", default="sim:7")
    parser.add_argument("--operators", default="", help="comma-separated; default: all")
    parser.add_argument(
        "--limit-s",
        type=float,
        help="the bench is ended after this time, complete or not; default: no limit",
    )
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        document = {"what": __doc__, **run(options, Path(folder)), "environment": environment()}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text_of(document))
    finished = sum(pair["attempts"] for pair in document["pairs"].values())
    print(
        "\n".join(
            [
                f"{finished} attempts in {document['wall_s']} s",
                json.dumps(document["jobs"]),
                *document["comparison"],
            ]
        )
    )


if __name__ == "__main__":
    main()
