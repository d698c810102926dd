"""Compares two servers, one with several GPUs and one with a single GPU, by the number of verdicts
per hour that each gives.

    python measurements/gpus.py --devices cuda:0 cuda:1 --out measurements/results/gpus-h200-x2.json

The goal is a factor of at least 1.9 with two GPUs and 3.8 with four GPUs.

The agents are those of sandbox.py, with the same number of agents for each GPU. Each agent names
its device. Both servers run the whole time and are loaded in turns, so that other load on the
machine affects both. `run_tests` of vector_add is the smallest possible verdict. The number of such
verdicts is limited by the rate at which the driver creates contexts (contexts.py), unless each agent
has a run (--runs), which keeps its context. The calls of `submit` go through several operators of
common kinds, and each submission is timed."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from environment import environment

from sandbox import ROOT, Agent, Server, oracle_of, throughput

TOOLS = {
    "run_tests": ("vector_add",),
    "submit": ("vector_add", "softmax_last_dim", "layer_norm_fwd", "matmul_fp16", "rope_neox"),
}


def ratio(rates: list[dict[str, Any]], tool: str, most: int) -> float:
    """Returns verdicts per hour with all GPUs divided by verdicts per hour with one GPU. Uses the
    medians over the rounds."""
    by_count = {
        count: statistics.median(
            rate["verdicts_per_hour"]
            for rate in rates
            if rate["tool"] == tool and rate["gpus"] == count
        )
        for count in (1, most)
    }
    return round(by_count[most] / by_count[1], 3)


def first_verdict(port: int, operator: str, code: str, device: str) -> dict[str, Any]:
    return Agent(port).verdict(code, device, "submit", operator)


def warm(server: Server, devices: list[str]) -> None:
    """Runs jobs so that every device has started its processes and recorded every oracle's
    plans."""
    with ThreadPoolExecutor(len(devices)) as pool:
        for operator in TOOLS["submit"]:
            ask = partial(first_verdict, server.port, operator, oracle_of(operator))
            for verdict in pool.map(ask, devices):
                if verdict.get("outcome") != "pass":
                    raise SystemExit(
                        f"a correct submission does not pass: {json.dumps(verdict)[:300]}"
                    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--devices", nargs="+", required=True)
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--agents", type=int, default=6, help="for each GPU")
    parser.add_argument(
        "--seconds",
        type=float,
        default=40.0,
        help="for each load; must be several times as long as one verdict",
    )
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--runs", action="store_true", help="run_tests belong to runs, too")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    first, *others = options.devices
    if not others:
        parser.error("--devices: name at least two")
    rates: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as many:
        further = [word for device in others for word in ("--device", device)]
        several = Server(options.binary, first, Path(many), *further)
        servers = [(Server(options.binary, first, Path(one)), [first]), (several, options.devices)]
        for server, devices in servers:
            warm(server, devices)
        for _ in range(options.rounds):
            for tool in options.tools:
                for server, devices in servers:
                    rate = throughput(
                        server,
                        options.agents * len(devices),
                        options.seconds,
                        devices,
                        tool,
                        TOOLS[tool],
                        options.runs,
                    )
                    rates.append({"gpus": len(devices), "tool": tool, **rate})
                    says = f"{rate['verdicts_per_hour']} verdicts an hour, p50 {rate['p50_ms']} ms, {rate['stage_ms']}"
                    print(f"{tool:10} {len(devices)} GPUs: {says}", flush=True)
        for server, _ in servers:
            server.close()
    summary = {tool: ratio(rates, tool, len(options.devices)) for tool in options.tools}
    result = {
        "what": __doc__,
        "devices": options.devices,
        "runs": options.runs,
        "summary": summary,
        "environment": environment(),
        "throughput": rates,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, separators=(",", ":")) + "\n")
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
