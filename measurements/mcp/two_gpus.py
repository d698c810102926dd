"""Compares pools of several GPU workers with a pool of one, by the verdicts an hour, and kills and
stops workers under load.

    taskset -c 15,31 python measurements/mcp/two_gpus.py --gpus 0 1 --cores 0-14 16-30 \\
        --out measurements/results/two-gpus-pool-h200.json
    taskset -c 15,31 python measurements/mcp/two_gpus.py --gpus 0 1 2 3 --pools 1 2 4 \\
        --cores 0-14 16-30 32-46 48-62 --loss-s 0 --out measurements/results/gpus-pool-h200-x4.json

The goals are a factor of at least 1.9 with two GPUs, for `submit` and for `run_tests`, and that a
worker's loss is noticed within 5 s and costs no verdict.

Each worker has one GPU and cores of its own, as if it were alone on a machine. A small script that
starts the workers of a pool gives each one the first GPU that is free, as an engine would do it. All
pools belong to one server and run the whole time, and the load goes to them in turns, with the same
number of agents for each GPU (pools.py). Right before each load, each of its agents makes one call,
which does not count, because a GPU context that was not used for a minute is ended."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import sqlite3
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from pools import (
    ROOT,
    Load,
    Pool,
    Server,
    environment,
    metric,
    pools_text,
    processes,
    ready,
    serving,
    sources,
    wait_for_workers,
    warm,
)
from roles_gpu import SUITE, cores_of

START_S = 60.0
LOSS_S = 5.0  # the goal: a loss is noticed within this time
BEFORE_LOSS_S = 3.0  # of load
SHARERS, JUDGES = 4, 4
STARTER = """#!/bin/sh
# Starts a worker on the first GPU that no other worker of this pool has. The lock ends with the
# worker, which inherits it.
while read -r gpu cores <&3; do
  exec 9>"$0.gpu$gpu"
  if flock --nonblock 9; then
    export CUDA_VISIBLE_DEVICES="$gpu"
    exec taskset -c "$cores" "$@" 3<&-
  fi
done 3<"$0.gpus"
echo "every GPU has a worker" >&2
exit 1
"""


def pool_of(options: argparse.Namespace, folder: Path, name: str, count: int) -> Pool:
    starter = folder / name
    starter.write_text(STARTER)
    starter.chmod(0o755)
    rows = zip(options.gpus[:count], options.cores[:count], strict=True)
    lines = [f"{gpu} {','.join(map(str, cores))}\n" for gpu, cores in rows]
    Path(f"{starter}.gpus").write_text("".join(lines))
    jobs = max(options.agents, SHARERS)
    words = [str(starter), options.binary, "worker", "--device", options.device]
    words += ["--gpu-jobs", str(jobs), "--gpu-sharers", str(SHARERS), "--judges", str(JUDGES)]
    words += ["--recording-jobs", str(min(len(options.cores[0]), 16)), "--recorders", "2"]
    words += ["--log-file", f"{starter}.log"]
    if options.suite != SUITE:
        words += ["--suite", str(options.suite)]
    words += shlex.split(options.worker_options)
    return {
        "name": name,
        "command": shlex.join(words),
        "device": options.device,
        "least": count,
        "most": count,
        "jobs_per_worker": jobs,
        "start_s": int(START_S),
        "health_check_s": options.health_check_s,
    }


def workers_of(server: Server, folder: Path, pool: str) -> list[int]:
    mine = f"{folder / pool}.log"
    return [
        pid
        for pid in processes.descendants(server.process.pid)
        if processes.parent_of(pid) == server.process.pid and mine in processes.command_line(pid)
    ]


def unfinished(store: Path) -> int:
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        [[count]] = database.execute(
            "SELECT count(*) FROM submissions WHERE job NOT IN (SELECT job FROM verdicts)"
        )
    return int(count)


def losses(server: Server, folder: Path, load: Load, seconds: float, pool: Pool) -> Any:
    """Kills a worker under load, and stops another one once all are ready again."""
    pool_name, workers = pool["name"], pool["least"]
    name = f'assay_worker_losses_total{{pool="{pool_name}"}}'
    sent, outcomes = load.sent, sum(load.outcomes.values())
    found: list[dict[str, Any]] = []
    result: dict[str, Any] = {}
    loading = threading.Thread(target=lambda: result.update(load.measure("run_tests", seconds)))
    until = time.monotonic() + seconds
    loading.start()
    for how in (signal.SIGKILL, signal.SIGSTOP):
        time.sleep(BEFORE_LOSS_S)
        before = metric(server, name)
        victim = workers_of(server, folder, pool_name)[0]
        busy = metric(server, f'assay_workers{{pool="{pool_name}",state="busy"}}')
        begin = time.monotonic()
        os.kill(victim, how)
        while metric(server, name) == before and time.monotonic() < until:
            time.sleep(0.02)
        noticed = time.monotonic() - begin
        while ready(server, pool_name) < workers and time.monotonic() < until:
            time.sleep(0.1)
        found.append(
            {
                "signal": how.name,
                "busy_workers": busy,
                "noticed_s": noticed if metric(server, name) > before else None,
                "replaced_s": time.monotonic() - begin
                if ready(server, pool_name) == workers
                else None,
            }
        )
        print(json.dumps(found[-1]), flush=True)
    loading.join()
    answered = sum(load.outcomes.values()) - outcomes
    return {
        "faults": found,
        "sent": load.sent - sent,
        "answered": answered,
        "jobs_without_verdict": unfinished(folder / "assay.db"),
        "load": result,
    }


def summary(loads: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    """Returns the medians over the rounds, and the factors over the first pool, for each tool."""
    found = {}
    for tool in dict.fromkeys(one["tool"] for one in loads):
        rates = {
            pool: statistics.median(
                one["verdicts_an_hour"]
                for one in loads
                if (one["tool"], one["pool"]) == (tool, pool)
            )
            for pool in names
            if any((one["tool"], one["pool"]) == (tool, pool) for one in loads)
        }
        alone = rates.get(names[0])
        factors = {
            name: round(rate / alone, 3)
            for name, rate in rates.items()
            if alone and name != names[0]
        }
        found[tool] = {"verdicts_an_hour": rates, "factors": factors}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--device", default="cuda:0", help="of each worker, which sees one GPU")
    parser.add_argument("--gpus", nargs="+", default=["0", "1"], help="for CUDA_VISIBLE_DEVICES")
    parser.add_argument("--cores", nargs="+", type=cores_of, required=True, help="for each GPU")
    parser.add_argument("--pools", nargs="+", type=int, help="numbers of GPUs; default: 1 and all")
    parser.add_argument("--suite", type=Path, default=SUITE, help="another folder of operators")
    parser.add_argument(
        "--operators",
        nargs="+",
        default=["vector_add", "softmax_last_dim", "rms_norm_fwd", "swiglu"],
    )
    parser.add_argument("--agents", type=int, default=12, help="for each GPU")
    parser.add_argument("--submit-agents", type=int, default=4, help="of them, for each GPU")
    parser.add_argument("--test-s", type=float, default=12.0, help="of each load of run_tests")
    parser.add_argument(
        "--submit-s", type=float, default=25.0, help="of each load of submit; 0: none"
    )
    parser.add_argument(
        "--loss-s", type=float, default=35.0, help="of the load with losses; 0: none"
    )
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--worker-options", default="", help="more options of each worker")
    parser.add_argument("--health-check-s", type=int, default=300)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    count = len(options.gpus)
    if count < 2 or len(options.cores) != count:
        parser.error("--gpus and --cores: name at least two GPUs, and cores for each")
    counts = options.pools or [1, count]
    if min(counts) < 1 or max(counts) > count:
        parser.error(f"--pools: valid: numbers from 1 to {count}, the number of --gpus")
    cases = sources(options.suite, options.operators)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        pools = [pool_of(options, folder, f"gpus_{number}", number) for number in counts]
        names = [str(pool["name"]) for pool in pools]
        document: dict[str, Any] = {
            "script": "measurements/mcp/two_gpus.py",
            "what": __doc__,
            "environment": environment(),
            # Where the checkout lies says nothing about the measurement.
            "pools": [
                {**pool, "command": str(pool["command"]).replace(f"{ROOT}/", "")} for pool in pools
            ],
            "cores": options.cores,
            "settings": {
                name: getattr(options, name)
                for name in ("operators", "agents", "submit_agents", "test_s", "submit_s", "rounds")
            },
        }

        def write() -> None:
            options.out.write_text(json.dumps(document, separators=(",", ":")) + "\n")

        file = folder / "workers.toml"
        file.write_text(pools_text(pools))
        own = ["--suite", str(options.suite)] if options.suite != SUITE else []
        with serving(options.binary, folder, "--workers", str(file), *own, device="") as server:
            document["start_s"] = wait_for_workers(server, pools, START_S)
            print(f"all workers are ready after {document['start_s']:.1f} s", flush=True)
            loads = {
                name: Load(server, [name], cases, options.agents * number)
                for name, number in zip(names, counts, strict=True)
            }
            measured: list[dict[str, Any]] = []
            lengths = {"run_tests": options.test_s, "submit": options.submit_s}
            lengths = {tool: seconds for tool, seconds in lengths.items() if seconds > 0}
            for number in range(options.rounds):
                for tool, seconds in lengths.items():
                    in_turn = list(zip(names, counts, strict=True))
                    for pool, workers in in_turn if number % 2 == 0 else reversed(in_turn):
                        each = options.submit_agents if tool == "submit" else options.agents
                        warm_up_s = round(warm([loads[pool]], tool, each * workers), 1)
                        found = loads[pool].measure(tool, seconds, each * workers)
                        measured.append(
                            {"round": number, "pool": pool, "warm_up_s": warm_up_s, **found}
                        )
                        short = {key: one for key, one in measured[-1].items() if key != "samples"}
                        print(json.dumps(short), flush=True)
                        document |= {"summary": summary(measured, names), "loads": measured}
                        write()
            if options.loss_s > 0:
                document["losses"] = losses(
                    server, folder, loads[names[-1]], options.loss_s, pools[-1]
                )
            document["wrong"] = [one for load in loads.values() for one in load.wrong]
            write()
    short = {key: one for key, one in document.get("losses", {}).items() if key != "load"}
    print(json.dumps({**document["summary"], "losses": short, "wrong": document["wrong"][:2]}))


if __name__ == "__main__":
    main()
