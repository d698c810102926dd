"""Changes the operators' oracles into cheats, and sends each cheat to a real server.

./run cheat-generator --singles 300 --pairs 100 --honest 100 --seed 1
./run cheat-generator --device cuda:0 --seconds 3600
./run cheat-generator --device cuda:0 --seconds 300 --honest-each --part 0 --parts 4 --known a.jsonl
./run cheat-generator --only half_by_torch --operators transpose2d,relu --show

A changed oracle is called a mutant. When the outcome of a mutant is known, one JSON line is
appended to the file --out. A mutant that is in the file already is not sent again, so a run that
was stopped can be continued. A mutant whose operator and transforms are in a file of --known, with
any seed, is not sent again either, unless it got through or was refused though it was honest. So
several runs add up. Several processes can share the operators, for example one for each GPU
(--parts). Any beginning of a run is an even sample of operators and transforms, unless
--operators-at-once is given: then few operators are in progress at a time, so judges load each
operator once and the same time suffices for more mutants.

On a GPU, a cheat is graded only if it passes `run_tests` (graded.py says why), a cheat that waits
for a trigger only if its trick runs, and outputs are
compared by threads of their own, so that no job of the server waits for a comparison. The exit
status is 1 if a cheat got through or an honest submission was refused."""

from __future__ import annotations

import argparse
import functools
import json
import os
import queue
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "measurements"), str(ROOT / "tests/common")]

from comparers import Comparers  # noqa: E402
from generator_table import read  # noqa: E402
from graded import Graded, NoVerdict  # noqa: E402
from mutants import Mutant, Order, build, few_at_once, honest_of_each, part_of, plan  # noqa: E402
from operator_text import OperatorText, all_operators  # noqa: E402
from outcomes import (  # noqa: E402
    Compare,
    Outcome,
    compared,
    decide,
    is_pass,
    needs_gpu_to_compare,
)
from transform import REWRITES, TRANSFORMS, Kind, NotApplicable  # noqa: E402

BAD = (Outcome.THROUGH, Outcome.UNDECIDED, Outcome.HONEST_REFUSED)
SUMMARY_CHARS = 400  # the maximum length of a verdict's summary in the results
CORES_PER_SERVER = 4  # without a GPU; a server has one judge
IN_FLIGHT_WITHOUT_GPU, IN_FLIGHT_WITH_GPU = 6, 32  # for each server
LONGEST_WAIT_S = 1e6  # of a thread
LATER = "to be compared"
GPU_COMPARISONS_S = 60  # after that time no comparison on the GPU begins
GPU_COMPARERS = 4  # processes on the GPU
GRACE_S = 30  # after the time of --seconds, mutants in progress have this time to end


def key_of(order: Order, device: str) -> str:
    return " ".join([device, order.operator.name, *order.names, str(order.seed)])


def tested_with_its_twin(
    mutant: Mutant, server: Graded
) -> tuple[dict[str, Any] | None, Outcome | None]:
    """Returns the verdict of `run_tests`, and the outcome if the trick never runs. A grade says no
    more about such a mutant than the grade of its twin does, and a grade has the GPU alone. Returns
    no verdict if the mutant has to be graded."""
    name = mutant.order.operator.name
    verdict = server.test(name, mutant.source)
    if not is_pass(verdict):
        return verdict, None
    twin = server.submit(name, mutant.probe, tested_first=True)
    return (verdict, Outcome.UNTRIGGERED) if is_pass(twin) else (None, None)


def judge(order: Order, device: str, server: Graded, compare: Compare) -> dict[str, Any]:
    """Builds one mutant, sends it to the server, and returns its line of the results."""
    of_gpu = device != "cpu"
    line: dict[str, Any] = {
        "key": key_of(order, device),
        "device": device,
        "operator": order.operator.name,
        "transforms": list(order.names),
        "seed": order.seed,
    }
    try:
        mutant = build(order, needs_gpu=of_gpu)
    except NotApplicable as error:
        return {**line, "outcome": Outcome.NOT_APPLICABLE.name, "reason": error.reason.name}
    started = time.monotonic()
    submit = server.submit
    if of_gpu and not order.has(Kind.HONEST):
        submit = functools.partial(server.submit, tested_first=True)
    verdict, outcome, evidence = None, None, None
    if of_gpu and all(one.kind is Kind.TRIGGER for one in order.transforms):
        verdict, outcome = tested_with_its_twin(mutant, server)
    if outcome is None:
        verdict = verdict or submit(order.operator.name, mutant.source)
        outcome, evidence = decide(mutant, verdict, device, submit, compare)
    if outcome is Outcome.HONEST_REFUSED:
        evidence = server.stored(str(verdict.get("job")))
    line |= {
        "outcome": outcome.name,
        "passed": is_pass(verdict),
        "verdict": f"{verdict.get('outcome')}:{verdict.get('error_kind')}",
        "perf": verdict.get("perf"),
        "evidence": evidence,
        "wall_s": round(time.monotonic() - started, 2),
    }
    if outcome in BAD or outcome is Outcome.BROKEN:
        line["summary"] = str(verdict.get("summary"))[:SUMMARY_CHARS]
    return line


class Results:
    """The file of results. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        text = path.read_bytes()
        os.truncate(path, text.rfind(b"\n") + 1)  # a stopped run may have left half a line
        self.known = {line["key"] for line in read([path])}
        self._file = path.open("a", encoding="utf-8")
        self.bad = 0
        self.without_verdict = 0
        self.count: dict[str, int] = {}

    def add(self, line: dict[str, Any]) -> None:
        with self._lock:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
            self.count[line["outcome"]] = self.count.get(line["outcome"], 0) + 1
            if Outcome[line["outcome"]] in BAD:
                self.bad += 1
                print(json.dumps(line), flush=True)

    def add_failure(self, text: str) -> None:
        """Notes a mutant without a verdict. It is sent again by the next run."""
        with self._lock:
            self.without_verdict += 1
            print(text, file=sys.stderr, flush=True)


class Sweep:
    """Judges orders in several threads until all are judged or the time is over."""

    def __init__(self, orders: list[Order], options: argparse.Namespace, results: Results) -> None:
        self.device: str = options.device
        self.waiting: queue.SimpleQueue[Order] = queue.SimpleQueue()
        for order in orders:
            self.waiting.put(order)
        self.until = time.monotonic() + options.seconds
        self.results = results
        self.drawn = not (options.only or options.operators)  # and not chosen by a person
        binary = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
        self.graded = Graded(
            binary, self.device, options.servers, options.in_flight, options.judges or 0
        )
        self.comparers = Comparers(options.comparers)
        # Mutants that passed, with their lines of results, whose outputs are to be compared.
        self.passed: queue.SimpleQueue[tuple[Order, dict[str, Any]] | None] = queue.SimpleQueue()
        self.later: list[tuple[Order, dict[str, Any]]] = []  # compared on the GPU at the end
        self.threads = [
            threading.Thread(target=self._work, daemon=True)
            for _ in range(options.servers * options.in_flight)
        ]
        self.comparing = [
            threading.Thread(target=self._compare_passed, daemon=True)
            for _ in range(options.comparers)
        ]

    def _compare_passed(self) -> None:
        """Compares outputs in the interpreter, until the queue contains None."""
        while (item := self.passed.get()) is not None:
            order, line = item
            try:
                mutant = build(order, needs_gpu=self.device != "cpu")
                outcome, evidence = compared(
                    mutant, self.device, lambda question, _: self.comparers.ask(question)
                )
            except (OSError, RuntimeError) as error:
                self.results.add_failure(f"{line['key']}: {error}")
            else:
                self.results.add({**line, "outcome": outcome.name, "evidence": evidence})

    def _compare_on_gpu(self) -> None:
        """Compares what passed and what no interpreter runs. It happens after the servers have
        ended, because it would disturb the times that they take."""
        until = time.monotonic() + GPU_COMPARISONS_S
        with (
            Comparers(GPU_COMPARERS, self.device) as comparers,
            ThreadPoolExecutor(GPU_COMPARERS) as threads,
        ):

            def compare(order: Order, line: dict[str, Any]) -> None:
                if time.monotonic() > until:
                    self.results.add_failure(f"{line['key']}: no time was left to compare it")
                    return
                mutant = build(order, needs_gpu=True)
                try:
                    outcome, evidence = compared(
                        mutant, self.device, lambda question, _: comparers.ask(question)
                    )
                except (OSError, RuntimeError) as error:
                    self.results.add_failure(f"{line['key']}: {error}")
                else:
                    self.results.add({**line, "outcome": outcome.name, "evidence": evidence})

            for _ in threads.map(compare, *zip(*self.later, strict=True)):
                pass  # raises what compare() has raised

    def _work(self) -> None:
        while time.monotonic() < self.until:
            try:
                order = self.waiting.get_nowait()
            except queue.Empty:
                return
            try:
                line = judge(order, self.device, self.graded, lambda *_: ({}, LATER))
            except (NoVerdict, OSError, RuntimeError) as error:
                if time.monotonic() < self.until:
                    self.results.add_failure(f"{key_of(order, self.device)}: {error}")
            else:
                line["drawn"] = self.drawn
                if not str(line.get("evidence")).startswith(LATER):
                    self.results.add(line)
                elif self.device != "cpu" and needs_gpu_to_compare(build(order, needs_gpu=True)):
                    self.later.append((order, line))
                else:
                    self.passed.put((order, line))

    def _wait_for(self, threads: list[threading.Thread]) -> None:
        for thread in threads:
            left = self.until + GRACE_S - time.monotonic()
            thread.join(min(max(0.0, left), LONGEST_WAIT_S))

    def run(self) -> int:
        """Returns the number of orders that no thread has begun."""
        with self.graded, self.comparers:
            for thread in [*self.threads, *self.comparing]:
                thread.start()
            self._wait_for(self.threads)
            for _ in self.comparing:
                self.passed.put(None)
            self._wait_for(self.comparing)
        if self.later:
            self._compare_on_gpu()
        return self.waiting.qsize()


def arguments_of(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Sends generated cheats to a real server.", allow_abbrev=False
    )
    number = "; -1: all"
    cores = os.cpu_count() or 1
    parser.add_argument("--singles", type=int, default=-1, help="of one transform" + number)
    parser.add_argument("--pairs", type=int, default=-1, help="of two transforms; -1: ten each")
    parser.add_argument("--honest", type=int, default=-1, help="honest rewrites" + number)
    parser.add_argument(
        "--honest-each",
        action="store_true",
        help="in place of --honest: first one that applies, for each operator that has none yet",
    )
    parser.add_argument("--known", type=Path, nargs="*", default=[], help="files of results")
    parser.add_argument("--part", type=int, default=0, help="of --parts, from 0")
    parser.add_argument("--parts", type=int, default=1, help="of the operators")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--servers", type=int, help="default: one, without a GPU one for 4 cores")
    parser.add_argument("--in-flight", type=int, help="mutants for each server at once")
    parser.add_argument("--judges", type=int, help="processes of each GPU; default: the server's")
    parser.add_argument(
        "--operators-at-once",
        type=int,
        default=0,
        help="all mutants of this many operators, then of the next; 0: an even sample of all",
    )
    parser.add_argument("--comparers", type=int, default=max(1, cores // 2), help="processes")
    parser.add_argument("--seconds", type=float, default=1e9, help="then no more is sent")
    parser.add_argument("--out", type=Path, help="default: bench-out/cheat-generator/DEVICE.jsonl")
    parser.add_argument("--operators", default="", help="names, with commas; default: all")
    parser.add_argument("--only", default="", help="one transform or a pair, with a comma")
    parser.add_argument("--show", action="store_true", help="print the sources, send nothing")
    options = parser.parse_args(argv)
    has_gpu = options.device != "cpu"
    options.servers = options.servers or (1 if has_gpu else max(1, cores // CORES_PER_SERVER))
    options.in_flight = options.in_flight or (
        IN_FLIGHT_WITH_GPU if has_gpu else IN_FLIGHT_WITHOUT_GPU
    )
    name = options.device.replace(":", "")
    options.out = options.out or ROOT / f"bench-out/cheat-generator/{name}.jsonl"
    return options


def chosen(options: argparse.Namespace, known: list[dict[str, Any]] | None = None) -> list[Order]:
    """Returns the mutants to judge, without those in `known`, which are lines of results."""
    decided = [line for line in known or [] if Outcome[line["outcome"]] not in BAD]
    decided = [line for line in decided if line["device"] == options.device]
    names = [name for name in options.operators.split(",") if name]
    operators = [one for one in all_operators() if not names or one.name in names]
    if unknown := set(names) - {one.name for one in operators}:
        raise SystemExit(f"no operator is named {', '.join(sorted(unknown))}")
    if not 0 <= options.part < options.parts:
        raise SystemExit(f"--part is {options.part}; valid: 0 to {options.parts - 1}")
    if options.only:
        only = tuple(options.only.split(","))
        if unknown := set(only) - TRANSFORMS.keys() - REWRITES.keys():
            valid = ", ".join([*TRANSFORMS, *REWRITES])
            raise SystemExit(f"no transform is named {', '.join(sorted(unknown))}; valid: {valid}")
        return [Order(operator, only, options.seed) for operator in operators]
    honest = 0 if options.honest_each else options.honest
    orders = plan(operators, options.seed, options.singles, options.pairs, honest)
    if options.honest_each:
        orders = [*honest_of_each(_without_honest(operators, decided), options.seed), *orders]
    done = {(line["operator"], *line["transforms"]) for line in decided}
    orders = [
        order for order in part_of(orders, options.part, options.parts) if order.what not in done
    ]
    return few_at_once(orders, options.operators_at_once) if options.operators_at_once else orders


def _without_honest(
    operators: list[OperatorText], lines: list[dict[str, Any]]
) -> list[OperatorText]:
    passed = {one["operator"] for one in lines if one["outcome"] == Outcome.HONEST_PASS.name}
    return [operator for operator in operators if operator.name not in passed]


def main(argv: list[str] | None = None) -> int:
    options = arguments_of(argv)
    orders = chosen(options, read(options.known))
    if options.show:
        for order in orders:
            print(f"# {key_of(order, options.device)}\n{build(order, True).source}")
        return 0
    results = Results(options.out)
    orders = [order for order in orders if key_of(order, options.device) not in results.known]
    print(f"{len(orders)} mutants are to be judged on {options.device}", flush=True)
    left = Sweep(orders, options, results).run()
    print(json.dumps(results.count), f"{left} left", flush=True)
    print(f"{results.without_verdict} without a verdict", flush=True)
    return 1 if results.bad or results.without_verdict else 0


if __name__ == "__main__":
    sys.exit(main())
