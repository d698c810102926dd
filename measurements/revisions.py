"""Compares two builds of Assay in one run: requests per second over HTTP, start-up time, and the
latency of a verdict. Use it to check that a change costs no time.

    python measurements/revisions.py --before OLD/build/release/bin/assay \
        --after build/release/bin/assay --out measurements/results/revisions-cpu2.json

The builds are measured in turns, so that a busy moment of the machine affects both. The script
prints medians and ratios. It writes raw samples and the environment to the result file."""

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

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "measurements/mcp"))

from contenders import Contender, http_server  # noqa: E402
from environment import environment  # noqa: E402
from http_load import load  # noqa: E402
from stdio_client import StdioClient, serve_command  # noqa: E402

OPERATORS = ("vector_add", "softmax_last_dim", "layer_norm_fwd", "matmul_fp16")
CONNECTIONS = (1, 16, 256)
WARM_UP_CALLS = 1  # for each operator


def start_up_ms(binary: str, store: Path) -> float:
    """Returns the time from spawning the server to its answer to `initialize`."""
    client = StdioClient(serve_command(binary, "fake", store))
    client.initialize()
    elapsed = (time.perf_counter() - client.started) * 1e3
    client.close()
    return elapsed


def requests_per_second(binary: str, store: Path, connections: int, seconds: int) -> float:
    command = [binary, "serve", "--device", "fake", "--store", str(store), "--http"]
    with http_server(Contender("assay", [], command, {})) as (_, port):
        load(port, connections, 1)  # warm-up
        return float(load(port, connections, seconds)["rps"])


class VerdictTimer:
    """Runs a server on the CPU device and measures the latency of its verdicts. Every verdict is on
    a different source."""

    def __init__(self, binary: str, store: Path) -> None:
        self.client = StdioClient(serve_command(binary, "cpu", store))

    def verdict_ms(self, operator: str) -> float:
        source = (ROOT / "operators/standard" / operator / "oracle.py").read_text()
        # The random comment makes the source new, so the server cannot use an earlier recording.
        code = f"{source}\n# {os.urandom(8).hex()}\n"
        begin = time.perf_counter()
        result = self.client.call("run_tests", {"operator": operator, "code": code})
        elapsed = (time.perf_counter() - begin) * 1e3
        verdict = result["structuredContent"]
        if verdict.get("outcome") != "pass":
            raise SystemExit(f"{operator} did not pass: {json.dumps(verdict)[:2000]}")
        return elapsed


def revision_of(binary: str) -> str:
    """Returns the git revision of the clone in which the program `binary` was built."""
    command = ["git", "-C", str(Path(binary).resolve().parent), "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", required=True, help="the assay program of the older build")
    parser.add_argument("--after", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=4, help="for each load of HTTP requests")
    parser.add_argument("--no-load", action="store_true", help="no HTTP requests: for many rounds")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    binaries = {"before": options.before, "after": options.after}
    samples: dict[str, dict[str, list[float]]] = {}

    def add(metric: str, build: str, value: float) -> None:
        samples.setdefault(metric, {}).setdefault(build, []).append(value)

    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        timers = {
            build: VerdictTimer(path, scratch / f"{build}.db") for build, path in binaries.items()
        }
        for timer in timers.values():
            for operator in OPERATORS * WARM_UP_CALLS:
                timer.verdict_ms(operator)
        for index in range(options.rounds):
            order = list(binaries.items())
            for build, binary in order if index % 2 == 0 else reversed(order):
                add("start_up_ms", build, start_up_ms(binary, scratch / f"s-{build}-{index}.db"))
                for connections in () if options.no_load else CONNECTIONS:
                    store = scratch / f"h-{build}-{index}-{connections}.db"
                    rate = requests_per_second(binary, store, connections, options.seconds)
                    add(f"requests_per_second_{connections}", build, rate)
            for operator in OPERATORS:
                for build in binaries if index % 2 == 0 else reversed(list(binaries)):
                    add(f"verdict_ms_{operator}", build, timers[build].verdict_ms(operator))
        for timer in timers.values():
            timer.client.close()

    summary: dict[str, Any] = {}
    for metric, of_build in samples.items():
        before, after = (statistics.median(of_build[build]) for build in ("before", "after"))
        summary[metric] = {"before": before, "after": after, "ratio": after / before}
    result = {
        "what": __doc__,
        "summary": summary,
        "environment": environment(),
        "revisions": {build: revision_of(path) for build, path in binaries.items()},
        "samples": samples,
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
