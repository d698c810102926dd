"""Measures three basic figures in one run: the start-up time of `assay serve --stdio`, the latency
of a warm `run_tests`, and the time of the same work in a fresh Python process.

    python measurements/skeleton.py --device cuda:0 --out measurements/results/skeleton-h200.json

`run_tests` is measured in four ways: with the default settings and a new source in each call, with
one recorder instead of several, with a pause between two calls, and with a source that was tested
before. The script prints medians and ratios. It writes raw samples and the environment to the
result file."""

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
from stdio_client import StdioClient, serve_command

ROOT = Path(__file__).resolve().parent.parent
OPERATOR = "vector_add"
WARM_UP_CALLS = 5
AGENT_PAUSE_S = 0.5  # the pause between two calls, in which an agent would think


def start_up_samples(binary: str, device: str, scratch: Path, count: int) -> list[float]:
    """Returns the milliseconds from spawning the server to the answer to `initialize`."""
    samples = []
    for index in range(count):
        client = StdioClient(serve_command(binary, device, scratch / f"start-{index}.db"))
        client.initialize()
        samples.append((time.perf_counter() - client.started) * 1e3)
        client.process.kill()
        client.process.wait()
    return samples


def warm_samples(
    command: list[str], source: str, count: int, distinct: bool = True, pause_s: float = 0
) -> tuple[list[float], list[dict[str, Any]]]:
    """Returns the milliseconds from sending the source to receiving the verdict. If each source is
    new, no verdict comes from a cache."""
    client = StdioClient(command)
    samples, stages = [], []
    for index in range(WARM_UP_CALLS + count):
        code = f"{source}\n# {index} {os.urandom(8).hex()}\n" if distinct else source
        time.sleep(pause_s)
        begin = time.perf_counter()
        result = client.call("run_tests", {"operator": OPERATOR, "code": code})
        elapsed = (time.perf_counter() - begin) * 1e3
        verdict = result["structuredContent"]
        if verdict.get("outcome") != "pass":
            raise SystemExit(f"run_tests did not pass: {json.dumps(verdict)[:2000]}")
        if index >= WARM_UP_CALLS:
            samples.append(elapsed)
            stages.append(verdict.get("stage_ms", {}))
    client.close()
    return samples, stages


def fresh_samples(device: str, source_file: Path, cases: list[str], count: int) -> list[float]:
    """Returns the milliseconds that a fresh Python process needs for the same work. Triton's cache
    is empty each time."""
    samples = []
    for _ in range(count):
        with tempfile.TemporaryDirectory() as cache:
            command = [
                sys.executable,
                str(ROOT / "measurements/fresh_process.py"),
                str(ROOT / "operators/standard" / OPERATOR),
            ]
            begin = time.perf_counter()
            subprocess.run(
                [*command, str(source_file), device, *cases],
                check=True,
                env={**os.environ, "TRITON_CACHE_DIR": cache},
            )
            samples.append((time.perf_counter() - begin) * 1e3)
    return samples


def quantile(samples: list[float], q: float) -> float:
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument(
        "--cases",
        nargs="+",
        required=True,
        help="the public cases that run_tests runs on this device",
    )
    parser.add_argument("--start-ups", type=int, default=50)
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--fresh", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    source_file = ROOT / "operators/standard" / OPERATOR / "oracle.py"
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        start_up = start_up_samples(options.binary, options.device, scratch, options.start_ups)
        serve, source = (
            serve_command(options.binary, options.device, scratch / "warm.db"),
            source_file.read_text(),
        )
        warm, stages = warm_samples(serve, source, options.calls)
        one_recorder, one_stages = warm_samples([*serve, "--recorders", "1"], source, options.calls)
        paced, paced_stages = warm_samples(serve, source, options.calls, pause_s=AGENT_PAUSE_S)
        again, again_stages = warm_samples(serve, source, options.calls, distinct=False)
        fresh = fresh_samples(options.device, source_file, options.cases, options.fresh)
    summary = {
        "initialize_ms": {
            "p50": statistics.median(start_up),
            "p95": quantile(start_up, 0.95),
            "budget_p50": 30,
        },
        "run_tests_ms": {
            "p50": statistics.median(warm),
            "p95": quantile(warm, 0.95),
            "budget_p50": 250,
        },
        "run_tests_one_recorder_ms": {
            "p50": statistics.median(one_recorder),
            "p95": quantile(one_recorder, 0.95),
        },
        "run_tests_paced_ms": {
            "p50": statistics.median(paced),
            "p95": quantile(paced, 0.95),
            "pause_s": AGENT_PAUSE_S,
        },
        "run_tests_again_ms": {"p50": statistics.median(again), "p95": quantile(again, 0.95)},
        "fresh_process_ms": {"p50": statistics.median(fresh)},
        "speed_up": statistics.median(fresh) / statistics.median(warm),
    }
    result = {
        "what": __doc__,
        "device": options.device,
        "cases": options.cases,
        "summary": summary,
        "environment": environment(),
        "samples_ms": {
            "initialize": start_up,
            "run_tests": warm,
            "one_recorder": one_recorder,
            "paced": paced,
            "again": again,
            "fresh_process": fresh,
        },
        "run_tests_stage_ms": stages,
        "one_recorder_stage_ms": one_stages,
        "paced_stage_ms": paced_stages,
        "again_stage_ms": again_stages,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
