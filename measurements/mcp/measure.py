"""Compares Assay's protocol layer with servers built with the official SDKs. Every server answers
calls of one trivial tool. All servers run on the same cores in one run of this script.

    python measurements/mcp/measure.py --out measurements/results/mcp-cpu2.json

It measures HTTP with wrk at 1, 16 and 256 connections, the processor time that a server needs for a
call over HTTP, stdio with a pipelined client, start-up time, and memory. It also measures the
memory and the processor time that 1,000 open but idle runs cost Assay. Each round measures all
servers in turn, so that other load on the machine affects all servers. With --before, it also
measures an older build of Assay. The script prints medians and ratios. It writes raw samples and
the environment to the result file."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "measurements")]

import http_load  # noqa: E402
import stdio_load  # noqa: E402
from contenders import (  # noqa: E402
    ARGUMENTS,
    TOOL,
    Contender,
    assay,
    contenders,
    http_server,
    memory_mib,
    same_answer,
)
from environment import environment  # noqa: E402
from stdio_client import StdioClient, serve_command  # noqa: E402

CONNECTIONS = (1, 16, 256)
IDLE_RUNS = 1_000
IDLE_SECONDS = 5
BUDGETS = {"rps_ratio_at_16": 5, "p99_ms_at_16": 10, "rss_mib": 40}
Samples = dict[str, dict[str, list[Any]]]


def expected_answer(binary: str, scratch: Path) -> dict[str, Any]:
    client = StdioClient(serve_command(binary, "fake", scratch / "answer.db"))
    result = client.call(TOOL, ARGUMENTS)
    client.close()
    return {key: result[key] for key in ("content", "structuredContent")}


def http_round(
    contender: Contender, wanted: dict[str, Any], seconds: int, samples: Samples
) -> None:
    """Starts a fresh server and measures it. Reads the server's memory after the load."""
    with http_server(contender) as (process, port):
        if not same_answer(http_load.one_call(port), wanted):
            raise SystemExit(f"{contender.name} answers something else")
        http_load.load(port, 16, 2)  # warms up, so that JIT compilers have compiled the code
        for connections in CONNECTIONS:
            used = cpu_seconds(process.pid)
            sample = http_load.load(port, connections, seconds)
            sample["cpu_us"] = (cpu_seconds(process.pid) - used) / sample["requests"] * 1e6
            samples[contender.name].setdefault(f"http_{connections}", []).append(sample)
        samples[contender.name].setdefault("http_memory_mib", []).append(memory_mib(process.pid))


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_runs(binary: str, scratch: Path) -> dict[str, Any]:
    """Measures the memory and processor time of a server with 1,000 open runs while no client makes
    a call."""
    client = StdioClient(serve_command(binary, "fake", scratch / "idle.db"))
    client.call(TOOL, ARGUMENTS)
    before = memory_mib(client.process.pid)
    begin = time.perf_counter()
    for _ in range(IDLE_RUNS):
        client.call("start_run", {"agent": "bench", "model": "none", "track": "iterative"})
    opened = time.perf_counter() - begin
    used = cpu_seconds(client.process.pid)
    time.sleep(IDLE_SECONDS)
    result = {
        "runs": IDLE_RUNS,
        "start_run_ms": opened * 1e3 / IDLE_RUNS,
        "memory_before_mib": before,
        "memory_after_mib": memory_mib(client.process.pid),
        "cpu_share_while_idle": (cpu_seconds(client.process.pid) - used) / IDLE_SECONDS,
    }
    client.close()
    return result


def median_of(samples: list[Any], pick: Callable[[Any], float]) -> float:
    return statistics.median(pick(sample) for sample in samples)


def summary_of(samples: dict[str, list[Any]]) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for connections in CONNECTIONS:
        rows = samples[f"http_{connections}"]
        summary[f"http_{connections}"] = {
            key: median_of(rows, lambda row, key=key: row[key])
            for key in ("rps", "p50_ms", "p99_ms", "cpu_us")
        } | {"errors": sum(row["errors"] for row in rows)}
    summary["http_rss_mib"] = median_of(samples["http_memory_mib"], lambda row: row["peak"])
    summary["stdio_rps"] = median_of(samples["stdio"], lambda row: row["rps"])
    summary["stdio_rss_mib"] = median_of(samples["stdio"], lambda row: row["memory_mib"]["peak"])
    summary["start_up_ms"] = statistics.median(samples["start_up_ms"])
    return summary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--before", help="the assay program of an older build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8, help="duration of each wrk run")
    parser.add_argument("--stdio-calls", type=int, default=20_000)
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--start-ups", type=int, default=20)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    node_dir = Path(
        subprocess.run(
            [str(ROOT / "tests/node/install.sh")], stdout=subprocess.PIPE, text=True, check=True
        ).stdout.strip()
    )
    load_before = os.getloadavg()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        wanted = expected_answer(options.binary, scratch)
        (scratch / "answer.json").write_text(json.dumps(wanted))
        field = contenders(options.binary, node_dir, scratch / "answer.json", scratch)
        if options.before:
            field.append(assay("assay_before", options.before, scratch))
        samples: Samples = {contender.name: {} for contender in field}
        for _ in range(options.rounds):
            for contender in field:
                http_round(contender, wanted, options.seconds, samples)
                calls = (
                    options.stdio_calls
                    if contender.name.startswith("assay")
                    else options.stdio_calls // 5
                )
                samples[contender.name].setdefault("stdio", []).append(
                    stdio_load.pipelined(contender, calls, options.window)
                )
        for _ in range(options.start_ups):
            for contender in field:
                samples[contender.name].setdefault("start_up_ms", []).append(
                    stdio_load.start_up_ms(contender)
                )
        idle = idle_runs(options.binary, scratch)
    summary = {name: summary_of(rows) for name, rows in samples.items()}
    own = summary["assay"]
    ratios = {
        peer: {
            **{
                f"http_{c}_rps": own[f"http_{c}"]["rps"] / summary[peer][f"http_{c}"]["rps"]
                for c in CONNECTIONS
            },
            "http_16_cpu": summary[peer]["http_16"]["cpu_us"] / own["http_16"]["cpu_us"],
            "stdio_rps": own["stdio_rps"] / summary[peer]["stdio_rps"],
            "start_up": summary[peer]["start_up_ms"] / own["start_up_ms"],
            "memory": summary[peer]["http_rss_mib"] / own["http_rss_mib"],
        }
        for peer in summary
        if peer != "assay"
    }
    result = {
        "what": __doc__,
        "tool": {"name": TOOL, "arguments": ARGUMENTS, "answer_bytes": len(json.dumps(wanted))},
        "budgets": BUDGETS,
        "summary": summary,
        "assay_over": ratios,
        "idle_runs": idle,
        "load_before": load_before,
        "nice": os.nice(0),  # a negative value shows that the machine also had other work
        "environment": environment() | {"node": versions(node_dir)},
        "samples": samples,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps({"summary": summary, "assay_over": ratios, "idle_runs": idle}, indent=1))


def versions(node_dir: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((node_dir / "package.json").read_text())["dependencies"]
    return {
        name: version
        for name, version in found.items()
        if name == "node" or name.startswith("@modelcontextprotocol/")
    }


if __name__ == "__main__":
    main()
