"""Measures the processor time and the page faults of a verdict, by role, for two states of the
harness. One server runs with each state, and the servers get the same calls in turns.

    python measurements/mcp/candidate_cost.py --before /path/to/older/checkout --rounds 8 \\
        --out measurements/results/candidate-cost-cpu2.json

There are two kinds of calls. `refused` is a `compile` of a source that raises an exception at its
import, so its candidate does nothing else. `compile` is one of the oracles. Both servers run the
same programs; only the folder of the harness differs (ASSAY_ROOT). The calls are made one after the
other, so a round's figures are those of its calls, whatever else the machine does."""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "measurements"), str(ROOT / "measurements/mcp")]
from answers import end  # noqa: E402
from environment import environment  # noqa: E402
from processor_use import ProcessorUse  # noqa: E402

from sandbox import Agent, Server, oracle_of  # noqa: E402

OPERATORS = ("vector_add", "softmax_last_dim", "rms_norm_fwd", "swiglu", "sum_last_dim")
REFUSALS = 20  # refused calls of a round
ROLES = ("zygote", "candidate")
IDLE_S = 8.0  # the zygote has done its preparations after this time
REFUSED = "raise ValueError('{}')\n"


def refused(agent: Agent) -> int:
    for _ in range(REFUSALS):
        verdict = agent.verdict(REFUSED.format(os.urandom(8).hex()), tool="compile")
        assert verdict.get("error_kind") == "value_error", verdict
    return REFUSALS


def compiled(agent: Agent) -> int:
    for operator in OPERATORS:
        verdict = agent.verdict(oracle_of(operator), tool="compile", operator=operator)
        assert verdict.get("outcome") == "pass", verdict
    return len(OPERATORS)


KINDS: dict[str, Callable[[Agent], int]] = {"refused": refused, "compile": compiled}


def measured(server: Server, agent: Agent, calls: Callable[[Agent], int]) -> dict[str, float]:
    with ProcessorUse(server.process.pid) as use:
        count = calls(agent)
        time.sleep(0.3)  # the last candidate ends
    took_s = use.result["took_s"]
    found = {}
    for role in ROLES:
        found[f"{role}_ms"] = round(use.result["by_role"][role] * took_s / count * 1e3, 2)
        found[f"{role}_faults"] = round(use.result["faults_by_role"][role] * took_s / count)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, required=True, help="a checkout of another state")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    roots = {"before": options.before.resolve(), "after": ROOT}
    samples: dict[str, dict[str, list[dict[str, float]]]] = {
        kind: {name: [] for name in roots} for kind in KINDS
    }
    with tempfile.TemporaryDirectory() as folder:
        servers, agents = {}, {}
        for name, root in roots.items():
            os.environ["ASSAY_ROOT"] = str(root)
            (Path(folder) / name).mkdir()
            servers[name] = Server(options.binary, "cpu", Path(folder) / name, probe=False)
            agents[name] = Agent(servers[name].port)
            for calls in KINDS.values():
                calls(agents[name])
        time.sleep(IDLE_S)
        for _ in range(options.rounds):
            for kind, calls in KINDS.items():
                for name in random.sample(list(roots), len(roots)):
                    samples[kind][name].append(measured(servers[name], agents[name], calls))
        for server in servers.values():
            end(server)
    medians: dict[str, Any] = {
        kind: {
            name: {key: statistics.median(one[key] for one in each) for key in each[0]}
            for name, each in of_kind.items()
        }
        for kind, of_kind in samples.items()
    }
    result = {"environment": environment(), "medians": medians, "samples": samples}
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(medians, indent=1))


if __name__ == "__main__":
    main()
