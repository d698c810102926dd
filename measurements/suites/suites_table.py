"""Makes the table of imported suites: how many files and operators each has, in which tiers their
kernels run on a device, how many give right outputs, and how many operators `lint` finds sound.

    assay import tritonbench-g CHECKOUT/data/TritonBench_G_v1 --out suites/g
    python measurements/suites/suites_table.py suites/* --device cuda:0 --seconds 570 --jobs 32 \
        --out measurements/results/suites-h200.json --page docs/measurements/suites.md

The script goes on where an earlier run with the same --out stopped. Without suites it only writes
the page. After --seconds it gives up what is in progress and writes its results; the page says how
many operators were not run. The order of a suite's operators is random and always the same, so a
part of a suite is a random sample of it.

A server judges a submission for each operator with `run_tests`, that is on the public cases:

- the oracle, if the operator has one. This is the benchmark's own kernel.
- Otherwise the benchmark's reference in PyTorch, as a submission. It has no kernel of its own, so
  it can only run on the host tier, and its verdict is `unattributed` if all outputs are right.
  Without a GPU there is no host tier, so these references are not judged.

Then `assay operators lint` checks each operator, with public and hidden cases."""

from __future__ import annotations

import argparse
import ast
import hashlib
import http.client
import json
import os
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from suites_page import page

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements"))
from environment import environment  # noqa: E402

from sandbox import Agent, Server  # noqa: E402

SEED = 20250220
WAIT_S = 20  # the longest wait of one call for a verdict
END_S = 15  # of --seconds; kept for the ends of server and lint
MOST_LINT_JOBS = 16  # each has a judge process with PyTorch
LINT_WEIGHT = 4.0  # the time of lint, compared with that of a verdict; decides about shares of time
LINTED_AT_ONCE = 3  # operators of one lint command, for each job
SUMMARY_CHARS = 300
SAME_CLASS = "\n\n\nclass ModelNew(Model):\n    pass\n"
KEPT = ("outcome", "error_kind", "tier", "tier_reason", "stage", "stage_ms")


@dataclass
class Suite:
    """An imported suite. `record` is its entry in the result."""

    folder: Path
    record: dict[str, Any]

    @property
    def names(self) -> list[str]:
        """The names of the operators, in the order in which they are judged."""
        names = sorted(one["name"] for one in self.record["operators"])
        random.Random(SEED).shuffle(names)
        return names

    def baseline(self, name: str) -> str:
        found = (one["baseline"] for one in self.record["operators"] if one["name"] == name)
        return str(next(found))

    def missing(self, step: str) -> list[str]:
        known = {sample["operator"] for sample in self.record[step]}
        return [name for name in self.names if name not in known]


def about_operator(folder: Path) -> dict[str, Any]:
    """Returns the operator's baseline, and whether it has a hidden case of other shapes."""
    spec: dict[str, Any] = tomllib.loads((folder / "spec.toml").read_text(encoding="utf-8"))
    cases = spec.get("cases", [])
    public = [case["axes"] for case in cases if case["visibility"] == "public"]
    others = [case for case in cases if case["axes"] not in public]
    return {"baseline": spec.get("baseline", "oracle"), "other_shapes": bool(others)}


def suite_of(folder: Path) -> Suite:
    """Reads what the importer wrote."""
    try:
        text = (folder / "import.json").read_text(encoding="utf-8")
        about = tomllib.loads((folder / "suite.toml").read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SystemExit(f"{folder} is not a suite that `assay import` made: {error}") from error
    files = json.loads(text)["files"]
    operators = [
        {
            "name": one["name"],
            "file": file["file"],
            **about_operator(folder / "standard" / one["name"]),
        }
        | {key: one[key] for key in ("tier", "cases", "interpreted") if key in one}
        for file in files
        for one in file["operators"]
    ]
    refused = [
        {"file": file["file"], "kind": file["kind"] or file.get("tier", ""), "why": file["reason"]}
        for file in files
        if not file["operators"]
    ]
    record = {
        "name": about["name"],
        "version": about.get("version", ""),
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "files": len(files),
        "refused": refused,
        "operators": operators,
        "verdicts": [],
        "lint": [],
    }
    return Suite(folder, record)


def without_harness(reference: str) -> str:
    """Returns the benchmark's own part of a reference.py, which ends where the importer's begins:
    with the first import of Assay's harness."""
    for statement in ast.parse(reference).body:
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("harness"):
            return "\n".join(reference.splitlines()[: statement.lineno - 1]) + "\n"
    return reference


def submission_of(folder: Path) -> str:
    """Returns the benchmark's own answer to the operator in this folder."""
    if (folder / "oracle.py").exists():
        return (folder / "oracle.py").read_text(encoding="utf-8")
    if (folder / "problem.py").exists():
        return (folder / "problem.py").read_text(encoding="utf-8") + SAME_CLASS
    return without_harness((folder / "reference.py").read_text(encoding="utf-8"))


def verdict_of(agent: Agent, operator: str, code: str) -> dict[str, Any]:
    answer = agent.call("run_tests", {"operator": operator, "code": code})
    while answer.get("status") in ("queued", "running"):
        answer = agent.call("job", {"job": answer["job"], "wait_s": WAIT_S})
    found = {key: answer.get(key) for key in KEPT}
    return {**found, "summary": str(answer.get("summary", ""))[:SUMMARY_CHARS]}


class Run:
    """One run of this script, until `end` of the clock time.monotonic()."""

    def __init__(self, options: argparse.Namespace, number: int) -> None:
        self.options = options
        self.number = number
        self.end = time.monotonic() + options.seconds - END_S

    def share(self, weight: float, weights_left: float) -> float:
        """Returns the time after which the next step starts nothing. It gets its share of the time
        that is left, and leaves what it does not need to the later steps."""
        now = time.monotonic()
        return now + max(0.0, self.end - now) * weight / weights_left

    def judge(self, suite: Suite, end: float) -> None:
        """Adds verdicts to the suite's record. Starts no call after `end`, and gives up the calls
        that are in flight at the end of the run."""
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        names = self.to_judge(suite)
        for name in names:
            waiting.put(name)
        if not names or time.monotonic() >= end:
            return
        samples: list[dict[str, Any]] = []
        failures: list[Exception] = []
        with tempfile.TemporaryDirectory() as folder:
            server = Server(
                self.options.binary,
                self.options.device,
                Path(folder),
                "--suite",
                str(suite.folder),
                probe=False,
            )

            def work() -> None:
                agent = Agent(server.port)
                while time.monotonic() < end:
                    try:
                        name = waiting.get_nowait()
                    except queue.Empty:
                        return
                    start = time.monotonic()
                    code = submission_of(suite.folder / "standard" / name)
                    try:
                        verdict = verdict_of(agent, name, code)
                    except (OSError, http.client.HTTPException, RuntimeError) as error:
                        if time.monotonic() < self.end:
                            failures.append(error)
                        return
                    if time.monotonic() > self.end:
                        return
                    wall_s = round(time.monotonic() - start, 3)
                    sample = {"operator": name, "run": self.number, "wall_s": wall_s}
                    samples.append(sample | verdict)

            threads = [
                threading.Thread(target=work, daemon=True)
                for _ in range(min(self.options.jobs, len(names)))
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(max(0.0, self.end - time.monotonic()))
            suite.record["verdicts"] += list(samples)
            try:
                server.close()
            except subprocess.TimeoutExpired:
                server.process.kill()
                server.process.wait()
        for failure in failures:
            self.say(f"{suite.record['name']}: a client ended: {failure}")

    def to_judge(self, suite: Suite) -> list[str]:
        """Returns the operators that still need a verdict, and can have one on this device."""
        on_gpu = self.options.device != "cpu"
        return [
            name for name in suite.missing("verdicts") if on_gpu or suite.baseline(name) == "oracle"
        ]

    def to_lint(self, suite: Suite) -> list[str]:
        return suite.missing("lint")

    def lint(self, suite: Suite, end: float) -> None:
        """Adds results of lint to the suite's record. Starts no command after `end`. The operators
        of a command that is in progress at the end of the run have no result."""
        jobs = min(self.options.jobs, MOST_LINT_JOBS)
        names = self.to_lint(suite)
        for first in range(0, len(names), jobs * LINTED_AT_ONCE):
            if time.monotonic() >= end:
                return
            part = names[first : first + jobs * LINTED_AT_ONCE]
            suite.record["lint"] += self.linted(suite, part, jobs)

    def linted(self, suite: Suite, names: list[str], jobs: int) -> list[dict[str, Any]]:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "lint.json"
            command = [self.options.binary, "operators", "--suite", str(suite.folder), "lint"]
            command += [*names, "--device", self.options.device, "--jobs", str(jobs), "--fresh"]
            process = subprocess.Popen(
                [*command, "--out", str(out)],
                stdout=subprocess.DEVNULL,
                env={**os.environ, "ASSAY_STATE_DIR": f"{folder}/state"},
            )
            try:
                process.wait(max(0.0, self.end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.terminate()
                try:
                    process.wait(END_S / 2)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                return []
            if not out.exists():
                self.say(f"{suite.record['name']}: lint ended with status {process.returncode}")
                return []
            found = json.loads(out.read_text(encoding="utf-8"))["operators"]
        return [
            {
                "operator": one["name"],
                "run": self.number,
                "sound": one["sound"],
                "undecided": one["undecided"],
                "failures": [text[:SUMMARY_CHARS] for text in one["failures"]],
                "mutants": one["mutants"],
                "killed": one["killed"],
                "oracle": one["oracle"][:SUMMARY_CHARS],
                "checks_s": round(one["checks_s"], 3),
                "oracle_s": round(one["oracle_s"], 3),
            }
            for one in found
        ]

    @staticmethod
    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def earlier(path: Path, device: str) -> dict[str, Any]:
    """Returns the result of earlier runs, or an empty one."""
    if not path.exists():
        return {"what": __doc__, "device": device, "runs": [], "suites": []}
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if result["device"] != device:
        raise SystemExit(f"{path} is of device {result['device']}; name another file with --out")
    return result


def with_earlier(folders: list[Path], result: dict[str, Any]) -> list[Suite]:
    """Returns the suites, with what earlier runs found out about them. A suite that was imported
    anew starts again."""
    suites = [suite_of(folder) for folder in folders]
    names = [suite.record["name"] for suite in suites]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SystemExit(f"two suites have the name {', '.join(twice)}; measure them apart")
    known = {record["digest"]: record for record in result["suites"]}
    for suite in suites:
        suite.record = known.get(suite.record["digest"], suite.record)
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
    about |= {"seconds": options.seconds, "jobs": options.jobs, "wall_s": 0.0}
    result["runs"].append(about)
    begin = time.monotonic()
    while time.monotonic() < run.end:
        done = sum(len(one.record["verdicts"]) + len(one.record["lint"]) for one in suites)
        steps = [(run.judge, one, float(len(run.to_judge(one)))) for one in suites]
        steps += [(run.lint, one, LINT_WEIGHT * len(run.to_lint(one))) for one in suites]
        for number, (step, suite, weight) in enumerate(steps):
            if not weight:
                continue
            step(suite, run.share(weight, sum(left for _, _, left in steps[number:])))
            about["wall_s"] = round(time.monotonic() - begin, 1)
            write(options.out, json.dumps(result, separators=(",", ":")) + "\n")
            run.say(
                f"{about['wall_s']:6.0f} s  {suite.record['name']}: {len(suite.names)} operators, "
                f"{len(suite.record['verdicts'])} verdicts, {len(suite.record['lint'])} linted"
            )
        if done == sum(len(one.record["verdicts"]) + len(one.record["lint"]) for one in suites):
            break


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
        "--out", type=Path, required=True, help="the result; continued if it exists"
    )
    parser.add_argument("--page", type=Path, help="write the table to this file")
    options = parser.parse_args()
    if options.seconds <= END_S:
        parser.error(f"--seconds must be more than {END_S}, which are kept for the end")
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")
    if not options.suites and not options.out.exists():
        parser.error("name suites, or an --out that has results")
    if options.suites:
        result = earlier(options.out, options.device)
        measure(with_earlier(options.suites, result), result, options)
    else:
        result = json.loads(options.out.read_text(encoding="utf-8"))
    if options.page:
        write(options.page, page(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
