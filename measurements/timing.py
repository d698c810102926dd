"""Measures how far the times in verdicts can be trusted. Compares them with times from do_bench and
CUPTI, and with repeated times of the same kernel.

    python measurements/timing.py --out measurements/results/timing-h200.json

To measure agreement, every oracle is profiled on its public cases by the tool `profile`, and then
timed by do_bench and CUPTI in a fresh process (ground_truth.py). To measure repeatability, some
oracles are profiled and submitted many times. Each submission is the oracle itself. So the oracle's
time divided by the submission's time should be 1, and Perf should be 1 too."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from environment import environment
from operator_folders import operator_folders
from stdio_client import StdioClient, serve_command

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/common"))
from tool_calls import verdict_of  # noqa: E402

LEAST_NS = 10_000  # below this time, the overheads of do_bench and CUPTI dominate
REPEATED = ("softmax_last_dim", "matmul_fp16", "vector_add")
WITHIN = 0.02
TIMED = ("latency", "baseline_latency")


def public_cases(folder: Path) -> list[dict[str, Any]]:
    spec = tomllib.loads((folder / "spec.toml").read_text())
    return [case for case in spec["cases"] if case["visibility"] == "public"]


def profile(client: StdioClient, folder: Path, case: str) -> dict[str, Any]:
    """Profiles the oracle in `folder`. Returns the verdict's record of the case, and the duration
    of the call."""
    begin = time.perf_counter()
    answer = client.call(
        "profile",
        {"operator": folder.name, "code": (folder / "oracle.py").read_text(), "case": case},
    )["structuredContent"]
    while answer.get("status") in ("queued", "running"):
        answer = client.call("job", {"job": answer["job"], "wait_s": 20})["structuredContent"]
    records = answer.get("cases") or [{}]
    return {
        "operator": folder.name,
        "case": case,
        "wall_s": time.perf_counter() - begin,
        "outcome": answer.get("outcome"),
        **records[0],
    }


def graded(client: StdioClient, run: str, folder: Path) -> dict[str, Any]:
    answer = verdict_of(
        client,
        "submit",
        {"operator": folder.name, "code": (folder / "oracle.py").read_text(), "run": run},
    )
    cases = [
        {
            "id": one["id"],
            **{whose: without_samples(one[whose]) for whose in TIMED if one.get(whose)},
        }
        for one in answer.get("cases") or []
    ]
    return {**{key: answer.get(key) for key in ("outcome", "perf", "stage_ms")}, "cases": cases}


def without_samples(latency: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in latency.items() if key != "samples_ns"}


def ns(record: dict[str, Any], key: str = "latency") -> float | None:
    return (record.get(key) or {}).get("median_ns")


def agreement(records: list[dict[str, Any]], truths: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns, for do_bench and for CUPTI, Assay's time divided by the tool's time. Leaves out
    times below LEAST_NS."""
    known = {(truth["operator"], truth["case"]): truth for truth in truths if "operator" in truth}
    found: dict[str, Any] = {}
    for key in ("do_bench_ns", "cupti_ns"):
        ratios = []
        for record in records:
            ours, theirs = ns(record), known.get((record["operator"], record["case"]), {}).get(key)
            if ours and theirs and ours >= LEAST_NS:
                ratios.append((ours / theirs, record["operator"], record["case"]))
        # CUPTI's durations leave out the gaps between operations, but the time that a caller waits
        # includes them. So only cases in which the oracle consists of a single operation are
        # compared with CUPTI.
        single = [one for one in ratios if known[one[1:]].get("operations") == 1]
        several = [one for one in ratios if one not in single]
        found[key] = (
            close_to(ratios)
            if key == "do_bench_ns"
            else {**close_to(single), "several_operations": several}
        )
    return found


def close_to(ratios: list[tuple[float, str, str]]) -> dict[str, Any]:
    return {
        "compared": len(ratios),
        "within_2_percent": sum(abs(ratio - 1) <= WITHIN for ratio, _, _ in ratios),
        "median_ratio": statistics.median(ratio for ratio, _, _ in ratios) if ratios else None,
        "farthest": sorted(ratios, key=lambda one: -abs(one[0] - 1))[:6],
    }


def repeatability(ratios: dict[str, list[float]]) -> dict[str, Any]:
    return {
        name: {
            "runs": len(values),
            "within_1_percent": sum(abs(value - 1) <= 0.01 for value in values),
            "worst": max(values, key=lambda v: abs(v - 1)),
        }
        for name, values in ratios.items()
        if values
    }


def summary(raw: dict[str, Any]) -> dict[str, Any]:
    return {
        "agreement": agreement(raw["records"], raw["others"]),
        "repeatability": repeatability(raw["ratios"]),
        "repeatability_of_perf": repeatability(
            {name: [one["perf"] for one in all_of] for name, all_of in raw["graded"].items()}
        ),
        "touch_ns": raw["others"][0]["touch_ns"],
        "profile_s": statistics.median(record["wall_s"] for record in raw["records"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--operators", nargs="*", default=[])
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    chosen = operator_folders(options.operators)
    with tempfile.TemporaryDirectory() as folder:
        command = serve_command(options.binary, "cuda:0", f"{folder}/assay.db")
        client = StdioClient(command, {**os.environ, "ASSAY_STATE_DIR": f"{folder}/state"})
        records = [profile(client, one, case["id"]) for one in chosen for case in public_cases(one)]
        repeated = {
            one.name: [
                profile(client, one, public_cases(one)[-1]["id"])
                for _ in range(options.repetitions)
            ]
            for one in chosen
            if one.name in REPEATED
        }
        run = client.call("start_run", {"agent": "bench", "model": "none", "track": "practice"})[
            "structuredContent"
        ]["run"]
        grades = {
            one.name: [graded(client, run, one) for _ in range(options.repetitions)]
            for one in chosen
            if one.name in REPEATED
        }
        client.close()
    asked = json.dumps(
        [{"folder": str(one), "case": case} for one in chosen for case in public_cases(one)]
    )
    told = subprocess.run(
        [sys.executable, str(ROOT / "measurements/ground_truth.py")],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
    )
    truths = json.loads(told.stdout.splitlines()[-1])
    ratios = {
        name: [
            baseline / ours
            for run in runs
            if (ours := ns(run)) and (baseline := ns(run, "baseline_latency"))
        ]
        for name, runs in repeated.items()
    }
    raw = {
        "records": records,
        "others": truths,
        "ratios": ratios,
        "repeated": repeated,
        "graded": grades,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    document = {"what": __doc__, "summary": {}, "environment": environment(), **raw}
    # Writes the measurements before the summary is computed. So an error in the summary does not
    # lose them.
    options.out.write_text(json.dumps(document, separators=(",", ":")) + "\n")
    document["summary"] = summary(raw)
    options.out.write_text(json.dumps(document, separators=(",", ":")) + "\n")
    print(json.dumps(document["summary"], indent=1))


if __name__ == "__main__":
    main()
