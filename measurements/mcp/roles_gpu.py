"""Measures how many verdicts an hour a GPU gives whose machine has few processors, alone and with
other processors that record for it.

    taskset -c 14,15 python measurements/mcp/roles_gpu.py --device cuda:0 --gpu-cores 0-3 \\
        --record-cores 4-13 --recorders 4 8 16 --out measurements/results/roles-h200.json

The cores of one machine are divided, as if they belonged to two machines:

- `alone`: one worker does everything on the GPU's cores (role `all`).
- `records_N`: a worker with role `launch` has the GPU's cores, and N workers with role `record` have
  N of the other cores, or all of them if there are fewer. Each of the N compiles one submission at
  a time.
- `all_cores`: one worker does everything on the cores of both.

Server and clients need processors of their own, so start the script with taskset. All workers belong
to one server and run the whole time; the load goes to one configuration after the other, and each
round goes through all of them. An agent sends the oracles of the operators with a new comment each
time to run_tests (pools.py). Right before each load, each agent makes one call, which does not
count, because a GPU context that was not used for a minute is ended. Health checks are off, because
they would be made at different times of the loads."""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from pools import (
    ROOT,
    Load,
    Pool,
    environment,
    pools_text,
    serving,
    sources,
    wait_for_workers,
    warm,
)

SUITE = ROOT / "operators"
START_S = 90.0
SHARERS, JUDGES = 4, 2  # of every worker with the GPU
TOOL = "run_tests"


def cores_of(text: str) -> list[int]:
    """Reads a list as taskset does: "0-3,8"."""
    cores: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        cores += range(int(first), int(last or first) + 1)
    return cores


def pools_of(options: argparse.Namespace) -> list[Pool]:
    agents, suite = options.agents, []
    if options.suite != SUITE:
        suite = ["--suite", str(options.suite)]

    def pool(name: str, role: str, count: int, jobs: int, cores: list[int], *more: str) -> Pool:
        words = ["taskset", "-c", ",".join(map(str, cores)), options.binary, "worker", *suite]
        words += ["--role", role, "--recorders", "1", *more]
        return {
            "name": name,
            "role": role,
            "command": shlex.join(words),
            "least": count,
            "most": count,
            "jobs_per_worker": jobs,
            "start_s": int(START_S),
            "health_check_s": 0,
        }

    def on_gpu(name: str, role: str, cores: list[int]) -> Pool:
        words = ["--device", options.device, "--gpu-jobs", str(max(agents, SHARERS))]
        words += ["--gpu-sharers", str(SHARERS), "--judges", str(JUDGES)]
        words += ["--recording-jobs", str(min(len(cores), 16))]
        return {**pool(name, role, 1, agents, cores, *words), "device": options.device}

    pools = [
        on_gpu("alone", "all", options.gpu_cores),
        on_gpu("all_cores", "all", options.gpu_cores + options.record_cores),
    ]
    for count in options.recorders:
        places = -(-agents // count)  # so that every job has one
        words = ["--gpu-jobs", str(places), "--gpu-sharers", "1", "--recording-jobs", "1"]
        cores = options.record_cores[:count]
        pools.append(pool(f"cpus_{count}", "record", count, places, cores, *words))
        launch = on_gpu(f"records_{count}", "launch", options.gpu_cores)
        pools.append({**launch, "records": f"cpus_{count}"})
    return pools


def summary(loads: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the medians over the rounds, and the factor over the GPU alone."""
    rates = {
        name: statistics.median(
            one["verdicts_an_hour"] for one in loads if one["configuration"] == name
        )
        for name in dict.fromkeys(one["configuration"] for one in loads)
    }
    alone = rates["alone"]
    over = {name: round(rate / alone, 2) if alone else None for name, rate in rates.items()}
    return {"verdicts_an_hour": rates, "over_alone": over}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--suite", type=Path, default=SUITE, help="another folder of operators")
    parser.add_argument(
        "--operators",
        nargs="+",
        default=["vector_add", "softmax_last_dim", "rms_norm_fwd", "swiglu"],
    )
    parser.add_argument("--gpu-cores", type=cores_of, required=True)
    parser.add_argument("--record-cores", type=cores_of, required=True)
    parser.add_argument("--recorders", type=int, nargs="+", default=[4, 8, 16])
    parser.add_argument("--agents", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each load")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    pools = pools_of(options)
    cases = sources(options.suite, options.operators)
    names = ["alone", *(f"records_{count}" for count in options.recorders), "all_cores"]
    settings = {
        name: getattr(options, name)
        for name in ("operators", "gpu_cores", "record_cores", "agents", "seconds", "rounds")
    }
    document: dict[str, Any] = {
        "script": "measurements/mcp/roles_gpu.py",
        "what": __doc__,
        "environment": environment(),
        "settings": {**settings, "gpu_sharers": SHARERS, "judges": JUDGES},
        "pools": pools,
    }
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        file = folder / "workers.toml"
        file.write_text(pools_text(pools))
        own = ["--suite", str(options.suite)] if options.suite != SUITE else []
        begin = time.monotonic()
        with serving(options.binary, folder, "--workers", str(file), *own, device="") as server:
            document["start_s"] = wait_for_workers(server, pools, START_S)
            print(f"all workers are ready after {document['start_s']:.1f} s", flush=True)
            loads = {name: Load(server, [name], cases, options.agents) for name in names}
            print(f"the agents have runs after {time.monotonic() - begin:.1f} s", flush=True)
            measured: list[dict[str, Any]] = []
            for number in range(options.rounds):
                for name in names:
                    warm_up_s = round(warm([loads[name]], TOOL), 1)
                    found = loads[name].measure(TOOL, options.seconds)
                    measured.append(
                        {
                            "round": number,
                            "configuration": name,
                            "warm_up_s": warm_up_s,
                            **found,
                        }
                    )
                    short = {key: one for key, one in measured[-1].items() if key != "samples"}
                    print(json.dumps(short), flush=True)
                    wrong = [one for load in loads.values() for one in load.wrong]
                    document |= {"summary": summary(measured), "wrong": wrong, "loads": measured}
                    options.out.write_text(json.dumps(document, separators=(",", ":")) + "\n")
    print(json.dumps(document["summary"]))


if __name__ == "__main__":
    main()
