"""Measures the verdicts an hour of `run_tests` for several numbers of agents, the graded submissions
an hour of all oracles, and the time from the start of the server to its first verdict.

    python measurements/mcp/throughput.py --device cuda:0 --agents 16 64 256 --seconds 20 \\
        --out measurements/results/throughput-h200.json

Each agent has a run and an HTTP connection of its own. It goes through a set of operators from an
operator of its own, and sends the code of the oracle with a new comment each time, one call after
the other. There are two sets of twelve operators: `chosen` (below) and `drawn`, which a seed draws
from all operators whose oracle is judged on the device. Before a set is measured, each of its
oracles is judged once, and an operator whose oracle does not pass then is named in the result and
left out. `end_s` of a sample is the time of its verdict since the load began. `processors` says what
the processors did meanwhile (processor_use.py).

With `--grades AGENTS`, that many agents then submit the oracles of all operators, in an order that
the seed draws, each once. A graded submission has the GPU alone while it is timed. With `--passes`,
they do so several times, and `passes` has the rate of each pass. The first pass is the slowest: a
judge loads each operator, and no earlier grade has timed its oracle or PyTorch.

`--state` names the server's state folder, which stays. A second measurement with the same folder
finds the recordings of the oracles there, as a server that starts again does."""

from __future__ import annotations

import argparse
import contextlib
import http.client
import itertools
import json
import random
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements"))
from answers import end  # noqa: E402
from environment import environment  # noqa: E402
from launch_figures import launch_figures, rounded  # noqa: E402
from operator_folders import operator_folders  # noqa: E402
from processor_use import ProcessorUse  # noqa: E402

from sandbox import Agent, Server, make_distinct, oracle_of, pool_memory  # noqa: E402

CHOSEN = (
    "vector_add",
    "relu",
    "gelu_tanh",
    "softmax_last_dim",
    "rms_norm_fwd",
    "layer_norm_fwd",
    "swiglu",
    "sum_last_dim",
    "argmax_last_dim",
    "rope_neox",
    "where_select",
    "cross_entropy_fwd",
)
DRAWN = 12
FIRST = "vector_add"


def judged(server: Server, operators: list[str]) -> tuple[list[str], dict[str, str]]:
    """Judges each oracle once. Returns the operators that pass, and the other verdicts."""
    found: dict[str, str] = {}

    def one(operator: str) -> None:
        verdict = Agent(server.port).verdict(oracle_of(operator), operator=operator)
        passes = verdict.get("outcome") == "pass"
        found[operator] = "pass" if passes else json.dumps(verdict)[:300]

    threads = [threading.Thread(target=one, args=[operator]) for operator in operators]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    passing = [operator for operator in operators if found[operator] == "pass"]
    return passing, {name: kind for name, kind in found.items() if kind != "pass"}


def turns(operators: list[str], index: int) -> Iterator[str]:
    return itertools.islice(itertools.cycle(operators), index % len(operators), None)


def load(
    server: Server,
    tool: str,
    operators_of: Callable[[int], Iterator[str]],
    agents: int,
    seconds: float,
    finish: bool = True,
) -> dict[str, Any]:
    """Loads the server with agents until the time is over, or until no agent has another operator.
    `operators_of` gives the operators of an agent. With `finish`, calls that are then in progress
    are finished. Returns the rates, percentiles and samples."""
    samples: list[dict[str, Any]] = []
    wrong: list[str] = []
    begin = time.monotonic()

    def work(index: int) -> None:
        agent = Agent(server.port)
        run = agent.call("start_run", {"agent": "load", "model": "none", "track": "practice"})
        for operator in operators_of(index):
            if time.monotonic() >= begin + seconds:
                return
            start = time.perf_counter()
            arguments = {"operator": operator, "run": run["run"]}
            arguments["code"] = make_distinct(oracle_of(operator))
            try:
                answer = agent.call(tool, arguments)
                while answer.get("status") in ("queued", "running"):
                    answer = agent.call("job", {"job": answer["job"], "wait_s": 20})
            except (OSError, http.client.HTTPException):
                if time.monotonic() >= begin + seconds:
                    return  # the server has ended, because this call does not count
                raise
            samples.append(
                {
                    "operator": operator,
                    "job": answer.get("job"),
                    "ms": round((time.perf_counter() - start) * 1e3, 2),
                    "end_s": round(time.monotonic() - begin, 2),
                    "stage_ms": answer.get("stage_ms") or {},
                    "launch": rounded(answer.get("launch") or {}),
                }
            )
            if answer.get("outcome") != "pass":
                wrong.append(f"{operator}: {answer.get('summary') or json.dumps(answer)[:300]}")

    threads = [threading.Thread(target=work, args=[index], daemon=True) for index in range(agents)]
    with ProcessorUse(server.process.pid) as use:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(None if finish else max(0.0, begin + seconds - time.monotonic()))
    # Calls that are in progress when the time is over do not count.
    inside = [one for one in list(samples) if one["end_s"] <= seconds]
    if not inside:
        raise SystemExit(f"{tool}: no verdict within {seconds} s: {wrong[:1]}")
    took = min(seconds, time.monotonic() - begin)
    ordered = sorted(one["ms"] for one in inside)
    stages = sorted({stage for one in inside for stage in one["stage_ms"]})
    result = {
        "tool": tool,
        "agents": agents,
        "verdicts": len(inside),
        "ended": len(samples),  # with the calls that ended after the time; `processors` covers them
        "verdicts_per_hour": round(len(inside) / took * 3600),
        "p50_ms": round(statistics.median(ordered), 1),
        "p99_ms": round(ordered[int(0.99 * (len(ordered) - 1))], 1),
        "wrong": len(wrong),
        "first_wrong": wrong[:8],
        "median_stage_ms": {
            stage: round(statistics.median(one["stage_ms"].get(stage, 0) for one in inside), 1)
            for stage in stages
        },
        "launch": launch_figures([one["launch"] for one in inside]),
        "processors": use.result,
    }
    print(json.dumps(result), file=sys.stderr, flush=True)
    return {**result, "samples": inside}


def rates_of_passes(samples: list[dict[str, Any]], operators: int) -> list[dict[str, Any]]:
    """Returns the rate of each pass over the operators. A pass ends with the verdict that makes its
    number of verdicts complete, because agents that begin the next pass do not wait for others. If
    the time ends a pass, it is not `complete`, and may lack the slowest operators."""
    ends = sorted(sample["end_s"] for sample in samples)
    passes = []
    begin_s = 0.0
    for first in range(0, len(ends), operators):
        of_pass = ends[first : first + operators]
        took_s = max(of_pass[-1] - begin_s, 0.01)  # times are rounded to this
        passes.append(
            {
                "complete": len(of_pass) == operators,
                "verdicts": len(of_pass),
                "took_s": round(took_s, 2),
                "verdicts_per_hour": round(len(of_pass) / took_s * 3600),
            }
        )
        begin_s = of_pass[-1]
    return passes


def add_stored(grades: dict[str, Any], store: Path) -> None:
    """Adds what the answers of `submit` leave out, from the stored verdicts: the time for which each
    grade had the GPU alone, its stages, its Perf, PyTorch's time of each timed case, and why it does
    not pass."""
    keys = ("gpu_alone_ms", "stage_ms", "perf", "error_kind", "detail")
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        rows = database.execute(
            "SELECT job, document FROM verdicts JOIN submissions USING (job) WHERE kind = 'grade'"
        ).fetchall()
    stored = {job: json.loads(document) for job, document in rows}
    for sample in grades["samples"]:
        verdict = stored.get(sample["job"], {})
        sample.update({key: verdict[key] for key in keys if verdict.get(key) not in (None, "none")})
        times = [one.get("pytorch_ns") or 0 for one in verdict.get("cases", [])]
        sample["pytorch_us"] = [round(ns / 1e3, 1) for ns in times if ns > 0]
    alone = [one["gpu_alone_ms"] for one in grades["samples"] if "gpu_alone_ms" in one]
    if alone:
        grades["mean_gpu_alone_ms"] = round(statistics.mean(alone), 1)
        grades["median_gpu_alone_ms"] = round(statistics.median(alone), 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--agents", type=int, nargs="+", default=[16, 64, 256])
    parser.add_argument("--sets", nargs="*", choices=("chosen", "drawn"), default=[])
    parser.add_argument("--seed", type=int, default=1, help="for the drawn operators")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each number of agents")
    parser.add_argument("--grades", type=int, default=0, help="the agents that submit oracles")
    parser.add_argument("--passes", type=int, default=1, help="of the grades over all operators")
    parser.add_argument("--grades-s", type=float, default=120.0, help="no submission starts later")
    parser.add_argument("--state", type=Path, help="the server's state folder; default: a new one")
    parser.add_argument("--serve", action="append", default=[], help="another option of the server")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    every = sorted(folder.name for folder in operator_folders())
    sets = {
        "chosen": list(CHOSEN),
        "drawn": random.Random(options.seed).sample(every, DRAWN),
    }
    result: dict[str, Any] = {"environment": environment(), "device": options.device, "sets": {}}
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        server = Server(
            options.binary,
            options.device,
            Path(folder),
            *options.serve,
            probe=False,
            state=options.state,
        )
        first = Agent(server.port).verdict(oracle_of(FIRST), operator=FIRST)
        result["first_verdict"] = {
            "operator": FIRST,
            "outcome": first.get("outcome"),
            "after_s": round(time.monotonic() - begin, 2),
            "stage_ms": first.get("stage_ms"),
        }
        print(json.dumps(result["first_verdict"]), file=sys.stderr, flush=True)
        for name in options.sets:
            begin = time.monotonic()
            passing, others = judged(server, sets[name])
            result["sets"][name] = {
                "operators": passing,
                "left_out": others,
                "warm_up_s": round(time.monotonic() - begin, 2),
                "loads": [
                    load(server, "run_tests", partial(turns, passing), one, options.seconds)
                    for one in options.agents
                ],
            }
            options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        if options.grades:
            once = random.Random(options.seed).sample(every, len(every))
            order = iter(once * options.passes)
            result["grades"] = load(
                server, "submit", lambda _: order, options.grades, options.grades_s, finish=False
            )
            result["grades"]["passes"] = rates_of_passes(result["grades"]["samples"], len(once))
            add_stored(result["grades"], Path(folder) / "assay.db")
        result["pool_kib"] = pool_memory(server)
        end(server)
        recordings = (options.state or Path(folder) / "state") / "recordings"
        result["recordings_bytes"] = sum(one.stat().st_size for one in recordings.glob("**/*"))
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
