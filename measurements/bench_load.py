"""Measures a long bench: at least 10,000 model calls through `assay bench` and its server, with the
simulated model. Reports calls per second, and the growth of memory and files.

    python measurements/bench_load.py --out measurements/results/bench-load.json

Most attempts run on the fake device, on which everything except the kernels is real: agents,
transcripts (synced to the disk), journal, protocol, job queue and store. Running 10,000 kernels in
the interpreter takes hours on two cores, so only the attempts of the part `full` run on the CPU
device. Each part is a separate bench, which runs two models at the same time. `memory` is the
resident set size of the bench and of its server, sampled once a second."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from environment import environment

ROOT = Path(__file__).resolve().parent.parent
MODELS = ("sim:1", "sim:2")
OPERATORS = ("vector_add", "relu", "gelu_tanh", "softmax_last_dim", "layer_norm_fwd")
SAMPLE_S = 1.0
MIB = 1 << 20


def resident_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def child_of(pid: int) -> int | None:
    """Returns the pid of the bench's only child process, which is its server."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else None


def size_mib(*paths: Path) -> float:
    files = (
        file
        for path in paths
        for file in (path.rglob("*") if path.is_dir() else [path])
        if file.is_file()
    )
    return sum(file.stat().st_size for file in files) / MIB


def watch(bench: subprocess.Popen[str]) -> list[dict[str, float]]:
    """Samples the memory until the bench ends. Returns a list of {at_s, bench_mib, server_mib}."""
    begin = time.perf_counter()
    series = []
    while bench.poll() is None:
        try:
            server = child_of(bench.pid)
            if server is not None:
                at = round(time.perf_counter() - begin, 1)
                series.append(
                    {
                        "at_s": at,
                        "bench_mib": round(resident_mib(bench.pid), 1),
                        "server_mib": round(resident_mib(server), 1),
                    }
                )
        except (FileNotFoundError, ProcessLookupError):
            pass  # The process ended between two samples.
        time.sleep(SAMPLE_S)
    return series


def run_part(binary: str, device: str, samples: int, jobs: int, folder: Path) -> dict[str, Any]:
    models = [flag for model in MODELS for flag in ("--model", model)]
    where = ["--store", str(folder / "assay.db"), "--out", str(folder / "out")]
    command = [
        binary,
        "bench",
        *models,
        "--operators",
        ",".join(OPERATORS),
        "--samples",
        str(samples),
        "--jobs",
        str(jobs),
        "--device",
        device,
        *where,
    ]
    begin = time.perf_counter()
    begin_unix_s = time.time()
    with (folder / "stdout").open("w") as out, (folder / "stderr").open("w") as err:
        environment_ = {**os.environ, "ASSAY_STATE_DIR": str(folder / "state")}
        with subprocess.Popen(
            command, stdout=out, stderr=err, env=environment_, text=True
        ) as bench:
            series = watch(bench)
    wall_s = time.perf_counter() - begin
    if bench.returncode != 0:
        raise SystemExit(
            f"the bench ended with {bench.returncode}:\n" + (folder / "stderr").read_text()[-2000:]
        )
    journals = sorted(folder.glob("out/*/journal.jsonl"))
    ends = [
        line
        for journal in journals
        for line in map(json.loads, journal.read_text().splitlines())
        if line["kind"] == "finished"
    ]
    calls = sum(end["replies"] for end in ends)
    outcomes: dict[str, int] = {}
    for end in ends:
        outcomes[end["outcome"]] = outcomes.get(end["outcome"], 0) + 1
    return {
        "device": device,
        "jobs": jobs,
        "attempts": len(ends),
        "model_calls": calls,
        "tool_calls": sum(end["tool_calls"] for end in ends),
        "outcomes": outcomes,
        "work_s": round(max(journal.stat().st_mtime for journal in journals) - begin_unix_s, 1),
        "wall_s": round(wall_s, 1),
        "calls_per_s": round(calls / wall_s, 2),
        "journal_mib": round(size_mib(*journals), 2),
        "transcripts_mib": round(size_mib(*folder.glob("out/*/transcripts")), 1),
        "store_mib": round(size_mib(*folder.glob("assay.db*")), 1),
        "memory": series,
    }


def memory_summary(part: dict[str, Any]) -> dict[str, float]:
    """Summarises the memory at three moments. `start` is after a tenth of the samples, when every
    thread has worked. `end` is the end of the last attempt. `report` is after the report is
    written."""
    work = [one for one in part["memory"] if one["at_s"] <= part["work_s"]] or part["memory"]
    moments = (("start", work[len(work) // 10]), ("end", work[-1]), ("report", part["memory"][-1]))
    return {
        f"{who}_{when}": one[who] for who in ("bench_mib", "server_mib") for when, one in moments
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument(
        "--samples",
        type=int,
        default=1000,
        help="samples of the part on the fake device; 10 calls each",
    )
    parser.add_argument(
        "--full-samples",
        type=int,
        default=10,
        help="samples of the part on the CPU device; 10 calls each",
    )
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    document: dict[str, Any] = {"what": __doc__, "summary": {}, "environment": environment()}
    for name, device, samples in (
        ("fake", "fake", options.samples),
        ("full", "cpu", options.full_samples),
    ):
        with tempfile.TemporaryDirectory() as folder:
            document[name] = run_part(options.binary, device, samples, options.jobs, Path(folder))
        part = document[name]
        document["summary"][name] = {
            key: part[key]
            for key in (
                "model_calls",
                "wall_s",
                "calls_per_s",
                "journal_mib",
                "transcripts_mib",
                "store_mib",
            )
        }
        document["summary"][name].update(memory_summary(part))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(document, indent=1) + "\n")
    print(json.dumps(document["summary"], indent=1))


if __name__ == "__main__":
    main()
