"""Measures whether Perf is as repeatable under load as it is without load. Under load, several
agents submit oracles to one server at the same time. Without load, the same grades run one at a
time.

    python measurements/grades_under_load.py --device cuda:0 --agents 16 --seconds 500 \
        --out measurements/results/grades-under-load-h100.json

One server runs during three phases: `alone`, `load`, and `alone` again, so that a drift of the
machine is visible. The value of an operator is the median of its Perf in both phases `alone`. A
Perf is within 1 % if it differs from the operator's value by at most 1 % of this value. The goal is
that 95 % of the values of Perf under load are within 1 %. The same share for the phases `alone`
shows the noise without load.

The script reads Perf from the store, because a tool's answer shows only three digits of it. A
device that times nothing (cpu) gives no Perf. With such a device the script runs to its end, and
the shares in its result are null."""

from __future__ import annotations

import argparse
import itertools
import json
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from environment import environment

from sandbox import ROOT, Agent, Server, oracle_of

# These operators have different kinds of work: memory-bound, arithmetic, reductions, scans,
# atomics, many launches.
OPERATORS = (
    "vector_add",
    "softmax_last_dim",
    "layer_norm_fwd",
    "matmul_fp16",
    "flash_attn_fwd",
    "rope_neox",
    "cross_entropy_fwd",
    "selective_scan_mamba1",
)
ALONE, LOAD = "alone", "load"
SHARES = ((ALONE, 0.3), (LOAD, 0.55), (ALONE, 0.15))  # of --seconds, in this order
WITHIN = 0.01
PERCENTILES = (5, 25, 50, 75, 90, 95, 99)
Sample = dict[str, Any]


def grade(agent: Agent, operator: str, code: str, phase: str) -> Sample:
    start = time.perf_counter()
    verdict = agent.verdict(code, tool="submit", operator=operator)
    return {
        "phase": phase,
        "operator": operator,
        "job": verdict["job"],
        "outcome": verdict.get("outcome"),
        "wall_s": round(time.perf_counter() - start, 3),
    }


def run_phase(
    server: Server, phase: str, agents: int, operators: Sequence[str], seconds: float
) -> list[Sample]:
    """Runs agents that submit for this time, and returns their samples. Each agent goes through all
    operators at least once, and begins with a different operator."""
    codes = {operator: oracle_of(operator) for operator in operators}
    samples: list[Sample] = []
    end = time.monotonic() + seconds

    def work(number: int) -> None:
        agent = Agent(server.port)
        turns = itertools.islice(itertools.cycle(operators), number % len(operators), None)
        for count, operator in enumerate(turns):
            if count >= len(operators) and time.monotonic() >= end:
                return
            samples.append(grade(agent, operator, codes[operator], phase))

    threads = [threading.Thread(target=work, args=[number]) for number in range(agents)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return samples


def add_perf(samples: list[Sample], store: Path) -> None:
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        perf = dict(connection.execute("SELECT job, perf FROM verdicts"))
    for sample in samples:
        sample["perf"] = perf.get(sample.pop("job"))


def percentiles(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        f"p{one}": round(ordered[round((len(ordered) - 1) * one / 100)], 5) for one in PERCENTILES
    }


def summary(samples: list[Sample]) -> dict[str, Any]:
    """Returns, for each phase and for each operator under load, the share of Perf that is within
    1 % of the operator's value, and percentiles of the deviation."""
    timed = [sample for sample in samples if sample["perf"]]
    values = {
        operator: statistics.median(
            sample["perf"]
            for sample in timed
            if (sample["operator"], sample["phase"]) == (operator, ALONE)
        )
        for operator in {sample["operator"] for sample in timed if sample["phase"] == ALONE}
    }

    def deviations(phase: str, operators: Sequence[str]) -> list[float]:
        return [
            abs(sample["perf"] / values[sample["operator"]] - 1)
            for sample in timed
            if sample["phase"] == phase and sample["operator"] in operators
        ]

    def described(phase: str, operators: Sequence[str]) -> dict[str, Any]:
        found = deviations(phase, operators)
        share = sum(one <= WITHIN for one in found) / len(found) if found else None
        return {
            "perf_values": len(found),
            "share_within_1_percent": share,
            "deviation": percentiles(found) if found else None,
        }

    return {
        "not_passed": sum(sample["outcome"] != "pass" for sample in samples),
        "without_perf": len(samples) - len(timed),
        "wall_s": {
            phase: percentiles([one["wall_s"] for one in samples if one["phase"] == phase])
            for phase in (ALONE, LOAD)
        },
        ALONE: described(ALONE, list(values)),
        LOAD: described(LOAD, list(values)),
        "operators": {
            operator: {"perf_alone": round(value, 5), **described(LOAD, [operator])}
            for operator, value in sorted(values.items())
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--agents", type=int, default=16)
    parser.add_argument("--operators", nargs="*", default=list(OPERATORS))
    parser.add_argument(
        "--seconds",
        type=float,
        default=500.0,
        help="time of all phases; each goes through the operators at least once, however long it takes",
    )
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    samples: list[Sample] = []
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.binary, options.device, Path(folder))
        # The server records the plans of an oracle at its first grade, and keeps them for later
        # grades. The samples of this phase are dropped.
        run_phase(server, "warm", 1, options.operators, 0)
        for phase, share in SHARES:
            agents = options.agents if phase == LOAD else 1
            samples += run_phase(server, phase, agents, options.operators, share * options.seconds)
        server.close()
        add_perf(samples, Path(folder) / "assay.db")
    document = {
        "what": __doc__,
        "device": options.device,
        "agents": options.agents,
        "summary": summary(samples),
        "environment": environment(),
        "samples": samples,
    }
    print(json.dumps(document["summary"], indent=1))
    if options.out:
        options.out.write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
