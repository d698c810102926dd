"""Makes the table of imported suites: how many files and operators each has, in which tiers their
kernels run on a device, how many give right outputs, and how many operators `lint` finds sound.

    assay import tritonbench-g CHECKOUT/data/TritonBench_G_v1 --out suites/g
    python measurements/suites/suites_table.py suites/* --device cuda:0 --seconds 570 --jobs 32 \
        --out measurements/results/suites-h200.json --page docs/measurements/suites.md

The script goes on where an earlier run with the same --out stopped. Without suites it only writes
the page, and --without-gpu adds the lint of a result of device cpu to it. After --seconds it gives
up what is in progress and writes its results; the page says how many operators were not run. The
order of a suite's operators is random and always the same, so a part of a suite is a random sample
of it. Suites are measured in the order of the command, --at-once of them at a time.

Several GPUs can share the work: each judges a part of the operators (--part 1/2, --part 2/2) with an
--out of its own, and a last command makes one result of them:

    python measurements/suites/suites_table.py --merge first.json second.json --out all.json

With --again, operators whose answer was not right, and those that lint did not find sound, are
measured again.

A server judges a submission for each operator with `run_tests`, that is on the public cases:

- the oracle, if the operator has one. This is the benchmark's own kernel.
- Otherwise the benchmark's reference in PyTorch, as a submission. It has no kernel of its own, so
  it can only run on the host tier, and its verdict is `unattributed` if all outputs are right.
  Without a GPU there is no host tier, so these references are not judged.

Then `assay operators lint` checks each operator, with public and hidden cases."""

from __future__ import annotations

import argparse
import collections
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements"))

from environment import environment  # noqa: E402
from suites_merge import carry_over, is_trouble, merged  # noqa: E402
from suites_page import is_right, page  # noqa: E402
from suites_record import Suite, suite_of  # noqa: E402
from suites_run import END_S, HOST_TIER_JOBS, MOST_LINT_JOBS, Run  # noqa: E402

# The time of a step for one operator, compared with that of a verdict on an oracle. Decides about
# shares of time.
LINT_WEIGHT = 4.0
HOST_TIER_WEIGHT = 2.0
STEPS = ("judge", "lint")


@dataclass
class Step:
    """What is done for one suite: a function of Run, and its weight among the steps. A step that is
    `alone` runs while no other step runs."""

    do: Callable[[Suite, float], None]
    suite: Suite
    weight: float
    alone: bool = False


def earlier(path: Path, device: str) -> dict[str, Any]:
    """Returns the result of earlier runs, or an empty one."""
    if not path.exists():
        return {"what": __doc__, "device": device, "runs": [], "suites": []}
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if result["device"] != device:
        raise SystemExit(f"{path} is of device {result['device']}; name another file with --out")
    return result


def with_earlier(folders: list[Path], result: dict[str, Any], again: bool = False) -> list[Suite]:
    """Returns the suites, with what earlier runs found out about them. An operator that was imported
    anew with other files starts again. What failed because of trouble of the server or the device is
    done again, and if `again`, also what was not right or not sound."""
    suites = [suite_of(folder) for folder in folders]
    names = [suite.record["name"] for suite in suites]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SystemExit(f"two suites have the name {', '.join(twice)}; measure them apart")
    known = {record["name"]: record for record in result["suites"]}
    for suite in suites:
        record = suite.record
        if earlier := known.get(record["name"]):
            carry_over(record, earlier)
        baselines = {one["name"]: one["baseline"] for one in record["operators"]}
        record["verdicts"] = [
            one
            for one in record["verdicts"]
            if not is_trouble("verdicts", one) and not (again and not is_right(one, baselines))
        ]
        record["lint"] = [
            one
            for one in record["lint"]
            if not is_trouble("lint", one) and not (again and not one["sound"])
        ]
    others = [record for record in result["suites"] if record["name"] not in names]
    result["suites"] = sorted(
        [*others, *(suite.record for suite in suites)], key=lambda record: str(record["name"])
    )
    return suites


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.new")
    staged.write_text(text, encoding="utf-8")
    os.replace(staged, path)


def measure(suites: list[Suite], result: dict[str, Any], options: argparse.Namespace) -> None:
    run = Run(options, len(result["runs"]))
    about: dict[str, Any] = {"environment": environment()}
    about |= {"seconds": options.seconds, "jobs": options.jobs, "at_once": options.at_once}
    about["wall_s"] = 0.0
    result["runs"].append(about)
    begin = time.monotonic()

    def keep(suite: Suite) -> None:
        with run.lock:
            about["wall_s"] = round(time.monotonic() - begin, 1)
            write(options.out, json.dumps(result, separators=(",", ":")) + "\n")
            run.say(
                f"{about['wall_s']:6.0f} s  {suite.record['name']}: {len(suite.names)} operators, "
                f"{len(suite.record['verdicts'])} verdicts, {len(suite.record['lint'])} linted"
            )

    write(options.out, json.dumps(result, separators=(",", ":")) + "\n")
    while time.monotonic() < run.end:
        done = sum(len(one.record["verdicts"]) + len(one.record["lint"]) for one in suites)
        steps = [step for step in steps_of(run, suites, options.steps) if step.weight]
        do_all(run, steps, options.at_once, keep)
        if done == sum(len(one.record["verdicts"]) + len(one.record["lint"]) for one in suites):
            break


def steps_of(run: Run, suites: list[Suite], wanted: Sequence[str]) -> list[Step]:
    """Returns the steps of one round, in their order."""
    steps: list[Step] = []
    if "judge" in wanted:
        for suite in suites:
            # Submissions of the host tier and their judges may need most of a GPU's memory.
            alone = run.options.device != "cpu" and not suite.has_oracles
            weight = 1.0 if suite.has_oracles else HOST_TIER_WEIGHT
            steps.append(Step(run.judge, suite, weight * len(run.to_judge(suite)), alone))
    if "lint" in wanted:
        steps += [Step(run.lint, one, LINT_WEIGHT * len(run.to_lint(one))) for one in suites]
    return steps


def do_all(run: Run, steps: list[Step], at_once: int, after: Callable[[Suite], None]) -> None:
    """Does the steps in their order, `at_once` of them at a time."""
    waiting = collections.deque(steps)
    failures: list[BaseException] = []
    running: list[Step] = []
    changed = threading.Condition()

    def may_begin() -> bool:
        return not waiting or not (running and (waiting[0].alone or running[0].alone))

    def work() -> None:
        while True:
            with changed:
                changed.wait_for(may_begin)
                if not waiting:
                    return
                left = sum(step.weight for step in waiting)
                step = waiting.popleft()
                running.append(step)
            try:
                step.do(step.suite, run.share(step.weight, left, 1 if step.alone else at_once))
                after(step.suite)
            except BaseException as error:
                failures.append(error)
                return
            finally:
                with changed:
                    running.remove(step)
                    changed.notify_all()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def part(text: str) -> tuple[int, int]:
    """Reads K/N."""
    number, _, count = text.partition("/")
    if not number.isdecimal() or not count.isdecimal() or not 1 <= int(number) <= int(count):
        raise argparse.ArgumentTypeError(f"{text!r} is not K/N with K from 1 to N, such as 1/2")
    return int(number), int(count)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suites", type=Path, nargs="*", help="folders that `assay import` made")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--seconds", type=float, default=3600, help="end after this time")
    parser.add_argument(
        "--jobs",
        type=int,
        default=2 * (os.cpu_count() or 1),
        help=f"calls in flight; lint uses at most {MOST_LINT_JOBS} jobs",
    )
    parser.add_argument(
        "--host-tier-jobs",
        type=int,
        default=HOST_TIER_JOBS,
        help="calls in flight for a suite without oracles, whose submissions run on the host tier",
    )
    parser.add_argument("--again", action="store_true", help="repeat what was not right or sound")
    parser.add_argument(
        "--part", type=part, default=(1, 1), help="K/N: measure the Kth of N parts of each suite"
    )
    parser.add_argument("--merge", type=Path, nargs="+", help="results; --out becomes all of them")
    parser.add_argument("--at-once", type=int, default=1, help="suites that are measured at once")
    parser.add_argument(
        "--steps", nargs="+", choices=STEPS, default=STEPS, help="what is done; both by default"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="the result; continued if it exists"
    )
    parser.add_argument("--page", type=Path, help="write the table to this file")
    parser.add_argument(
        "--without-gpu", type=Path, help="a result of device cpu, whose lint the page shows too"
    )
    options = parser.parse_args()
    if options.seconds <= END_S:
        parser.error(f"--seconds must be more than {END_S}, which are kept for the end")
    if min(options.jobs, options.at_once, options.host_tier_jobs) < 1:
        parser.error("--jobs, --at-once and --host-tier-jobs must be at least 1")
    if options.merge:
        results = [json.loads(path.read_text(encoding="utf-8")) for path in options.merge]
        write(options.out, json.dumps(merged(results), separators=(",", ":")) + "\n")
    if not options.suites and not options.out.exists():
        parser.error("name suites, or an --out that has results")
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    if options.suites:
        result = earlier(options.out, options.device)
        measure(with_earlier(options.suites, result, options.again), result, options)
    else:
        result = json.loads(options.out.read_text(encoding="utf-8"))
    if options.page:
        other = options.without_gpu and json.loads(options.without_gpu.read_text(encoding="utf-8"))
        files = [path for path in (options.out, options.without_gpu) if path]
        names = [os.path.relpath(path.resolve(), ROOT) for path in files]
        write(options.page, page(result, other, names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
