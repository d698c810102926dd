"""Changes the operators' oracles into cheats, and sends each cheat to a real server.

./run cheat-generator --singles 300 --pairs 100 --honest 100 --seed 1 --jobs 2
./run cheat-generator --singles -1 --pairs -1 --honest -1 --jobs 16 --seconds 7200
./run cheat-generator --only half_by_torch --operators transpose2d,relu --show

A changed oracle is called a mutant. When the outcome of a mutant is known, one JSON line is
appended to the file --out. A mutant that is in the file already is not sent again, so a run that
was stopped can be continued. The exit status is 1 if a cheat got through or an honest submission
was refused."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "measurements"), str(ROOT / "tests/common")]

from graded import Graded  # noqa: E402
from mutants import Order, build, draw  # noqa: E402
from operator_text import all_operators  # noqa: E402
from outcomes import Outcome, decide  # noqa: E402
from transform import REWRITES, TRANSFORMS, NotApplicable  # noqa: E402

BAD = (Outcome.THROUGH, Outcome.UNDECIDED, Outcome.HONEST_REFUSED)
SUMMARY_CHARS = 400  # the maximum length of a verdict's summary in the results


def key_of(order: Order, device: str) -> str:
    return " ".join([device, order.operator.name, *order.names, str(order.seed)])


def judge(order: Order, device: str, server: Graded) -> dict[str, Any]:
    """Builds one mutant, sends it to the server, and returns its line of the results."""
    line: dict[str, Any] = {
        "key": key_of(order, device),
        "device": device,
        "operator": order.operator.name,
        "transforms": list(order.names),
        "seed": order.seed,
    }
    try:
        mutant = build(order, needs_gpu=device != "cpu")
    except NotApplicable as error:
        return {**line, "outcome": Outcome.NOT_APPLICABLE.name, "reason": error.reason.name}
    started = time.monotonic()
    verdict = server.submit(order.operator.name, mutant.source)
    outcome, evidence = decide(mutant, verdict, device, server.submit)
    line |= {
        "outcome": outcome.name,
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
        done = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.known = {json.loads(line)["key"] for line in done}
        self._file = path.open("a", encoding="utf-8")
        self.bad = 0
        self.count: dict[str, int] = {}

    def add(self, line: dict[str, Any]) -> None:
        with self._lock:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
            self.count[line["outcome"]] = self.count.get(line["outcome"], 0) + 1
            if Outcome[line["outcome"]] in BAD:
                self.bad += 1
                print(json.dumps(line), flush=True)


def work(orders: list[Order], device: str, binary: str, results: Results, until: float) -> None:
    """Judges orders from the end of the list until the list is empty or the time is `until`. If
    the server ends, starts a new one."""
    while orders and time.monotonic() < until:
        with Graded(binary, device) as server:
            while time.monotonic() < until:
                try:
                    order = orders.pop()
                except IndexError:
                    return
                try:
                    results.add(judge(order, device, server))
                except (RuntimeError, BrokenPipeError) as error:
                    print(f"{key_of(order, device)}: {error}", file=sys.stderr, flush=True)
                    results.bad += 1
                    break


def arguments_of(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Sends generated cheats to a real server.", allow_abbrev=False
    )
    number = "; -1: all"
    parser.add_argument("--singles", type=int, default=200, help="of one transform" + number)
    parser.add_argument("--pairs", type=int, default=50, help="of two transforms; -1: ten each")
    parser.add_argument("--honest", type=int, default=50, help="honest rewrites" + number)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="servers at once")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="then no more is sent")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=ROOT / "bench-out/cheat-generator/cpu.jsonl")
    parser.add_argument("--operators", default="", help="names, with commas; default: all")
    parser.add_argument("--only", default="", help="one transform or a pair, with a comma")
    parser.add_argument("--show", action="store_true", help="print the sources, send nothing")
    return parser.parse_args(argv)


def chosen(options: argparse.Namespace) -> list[Order]:
    names = [name for name in options.operators.split(",") if name]
    operators = [one for one in all_operators() if not names or one.name in names]
    if unknown := set(names) - {one.name for one in operators}:
        raise SystemExit(f"no operator is named {', '.join(sorted(unknown))}")
    if options.only:
        only = tuple(options.only.split(","))
        if unknown := set(only) - TRANSFORMS.keys() - REWRITES.keys():
            valid = ", ".join([*TRANSFORMS, *REWRITES])
            raise SystemExit(f"no transform is named {', '.join(sorted(unknown))}; valid: {valid}")
        return [Order(operator, only, options.seed) for operator in operators]
    return draw(operators, options.seed, options.singles, options.pairs, options.honest)


def main(argv: list[str] | None = None) -> int:
    options = arguments_of(argv)
    orders = chosen(options)
    if options.show:
        for order in orders:
            print(f"# {key_of(order, options.device)}\n{build(order, True).source}")
        return 0
    results = Results(options.out)
    orders = [order for order in orders if key_of(order, options.device) not in results.known]
    print(f"{len(orders)} mutants are to be judged on {options.device}", flush=True)
    binary = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    until = time.monotonic() + options.seconds
    threads = [
        threading.Thread(target=work, args=(orders, options.device, binary, results, until))
        for _ in range(options.jobs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(results.count), f"{len(orders)} left", flush=True)
    return 1 if results.bad else 0


if __name__ == "__main__":
    sys.exit(main())
