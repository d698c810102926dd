"""Measures a load in the shape of GRPO: groups of rollouts with several turns, over HTTP
(`POST /v1/evaluate`) and over MCP (`run_tests`).

    python measurements/mcp/grpo_load.py --groups 8 --seconds 60 --out grpo.json
    python measurements/mcp/grpo_load.py --device cuda:0 --rounds 1 --at-once 4 --seconds 40 \\
        --out h200.json
    python measurements/mcp/grpo_load.py --binary before=/old/bin/assay \\
        --binary after=build/release/bin/assay --out grpo.json

A turn of a group sends its sources together: in one request over HTTP, in one call for each rollout
over MCP, where all calls of the group are in flight at the same time. The next turn begins when all
rollouts have their verdicts. Of each group, a quarter of the sources are equal to another one, and a
quarter of the others are wrong. On the device `fake`, a source is one line, and nothing is compiled
or run. On other devices, a source is the oracle of vector_add with a comment that makes it new, or
the same with a wrong sum.

A round starts a server of each binary and sends it the load over one protocol and then over the
other; the next round begins with the other protocol. So other load of the machine disturbs them
alike. --seconds bounds the time of each load: after it, no turn begins. One rollout is judged before
each load and does not count, because the first one starts the judges. The result has each load with
the time of each of its turns. The clients run on the same machine as the server."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/e2e", "measurements")]

from environment import environment  # noqa: E402
from evaluate import Connection, cpu_seconds, in_threads, named_binary  # noqa: E402
from http_serving import serving  # noqa: E402

OPERATOR = "vector_add"
RIGHT_SUM, WRONG_SUM = "x + y", "x - y"
ENDED = ("finished", "cancelled", "aborted")


def source_of(device: str, label: str, number: int, rollouts: int) -> str:
    """Returns the source of a rollout. The last quarter of a group repeats the first sources."""
    number %= max(rollouts * 3 // 4, 1)
    wrong = number % 4 == 3
    if device == "fake":
        return f"# fake: {'fail' if wrong else 'pass'}\n# {label} {number}\n"
    oracle = (ROOT / f"operators/standard/{OPERATOR}/oracle.py").read_text()
    assert RIGHT_SUM in oracle
    text = oracle.replace(RIGHT_SUM, WRONG_SUM) if wrong else oracle
    return f"{text}\n# {label} {number}\n"


class Rollout:
    """One rollout over MCP."""

    def __init__(self, port: int) -> None:
        self._connection = Connection(port)

    def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self._connection.post("/mcp", message)["result"]["structuredContent"]

    def outcome(self, source: str) -> str:
        found = self._call("run_tests", {"operator": OPERATOR, "code": source})
        while not found.get("outcome"):
            if found.get("state") in ENDED:
                return str(found["state"])
            if "job" in found:
                found = self._call("job", {"job": found["job"]})
            else:  # the queue is full
                time.sleep(0.05)
                found = self._call("run_tests", {"operator": OPERATOR, "code": source})
        return str(found["outcome"])


def load(server: Any, options: argparse.Namespace, protocol: str) -> dict[str, Any]:
    Rollout(server.port).outcome(source_of(options.device, f"before {protocol}", 0, 1))
    turns: list[dict[str, Any]] = []
    until = time.monotonic() + options.seconds
    outcomes: dict[str, int] = {}

    def one_turn(connections: list[Any], pool: ThreadPoolExecutor, name: str) -> list[str]:
        sources = [
            source_of(options.device, name, number, options.rollouts)
            for number in range(options.rollouts)
        ]
        if protocol == "mcp":
            return list(
                pool.map(
                    lambda pair: pair[0].outcome(pair[1]), zip(connections, sources, strict=True)
                )
            )
        members = [{"operator": OPERATOR, "source": one, "group": name} for one in sources]
        return [str(one["outcome"]) for one in connections[0].evaluate(members)]

    def work(number: int) -> None:
        count = options.rollouts if protocol == "mcp" else 1
        made = Rollout if protocol == "mcp" else Connection
        connections = [made(server.port) for _ in range(count)]
        with ThreadPoolExecutor(count) as pool:
            for group in range(number, options.groups, options.at_once):
                for turn in range(options.turns):
                    begin = time.monotonic()
                    if begin > until:
                        return
                    seen = one_turn(connections, pool, f"{protocol}/{group}/{turn}")
                    turns.append({"group": group, "turn": turn, "s": time.monotonic() - begin})
                    for one in seen:
                        outcomes[one] = outcomes.get(one, 0) + 1

    cpu = cpu_seconds(server.process.pid)
    seconds = in_threads(min(options.at_once, options.groups), work)
    done = len(turns) * options.rollouts
    return {
        "protocol": protocol,
        "rollout_turns": done,
        "complete": len(turns) == options.groups * options.turns,
        "outcomes": outcomes,
        "seconds": seconds,
        "per_second": done / seconds,
        "server_cpu_ms_each": (cpu_seconds(server.process.pid) - cpu) * 1000 / max(done, 1),
        "turns": turns,
    }


def summary(loads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the medians over the rounds, for each binary and protocol."""
    rows = []
    for binary, protocol in dict.fromkeys((one["binary"], one["protocol"]) for one in loads):
        own = [one for one in loads if (one["binary"], one["protocol"]) == (binary, protocol)]
        turns = [turn["s"] for one in own for turn in one["turns"]]
        rows.append(
            {
                "binary": binary,
                "protocol": protocol,
                "rounds": len(own),
                "per_second": statistics.median(one["per_second"] for one in own),
                "server_cpu_ms_each": statistics.median(one["server_cpu_ms_each"] for one in own),
                "turn_s": statistics.median(turns) if turns else None,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = str(ROOT / "build/release/bin/assay")
    parser.add_argument(
        "--binary", action="append", type=named_binary, help=f"NAME=PATH; default: {default}"
    )
    parser.add_argument("--device", default="fake")
    parser.add_argument("--groups", type=int, default=64)
    parser.add_argument("--rollouts", type=int, default=16, help="of a group")
    parser.add_argument("--turns", type=int, default=8, help="of a rollout")
    parser.add_argument("--at-once", type=int, default=16, help="groups at the same time")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="for each load")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    binaries = dict(options.binary or [("assay", default)])
    shape = {name: getattr(options, name) for name in ("groups", "rollouts", "turns", "at_once")}
    loads: list[dict[str, Any]] = []
    results: dict[str, Any] = {"environment": environment(), "device": options.device, **shape}
    for number in range(options.rounds):
        protocols = ("http", "mcp") if number % 2 == 0 else ("mcp", "http")
        for name, binary in binaries.items():
            with (
                tempfile.TemporaryDirectory() as folder,
                serving(binary, Path(folder), device=options.device) as server,
            ):
                for protocol in protocols:
                    found = load(server, options, protocol)
                    machine = {"round": number, "binary": name, "load_1min": os.getloadavg()[0]}
                    loads.append({**machine, **found})
                    print({key: loads[-1][key] for key in loads[-1] if key != "turns"}, flush=True)
                    results |= {"summary": summary(loads), "loads": loads}
                    options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
