"""Implements `assay import flashinfer-trace`: imports the definitions and workloads of a FlashInfer
Trace dataset (flashinfer-ai/flashinfer-bench) as a suite.

    # This command writes SUITE/standard/NAME/ and SUITE/import.json.
    python importers/flashinfer/flashinfer_trace.py flashinfer-trace --out SUITE

Each definition becomes an operator, and each workload a public case and a hidden case
(trace_cases.py). The operator's reference is the definition's own code, which the importer runs only
in the jail (trace_child.py). Everything that is written is made by this process from the dataset's
JSON; the jail only reports which cases can be judged. Assay contains no part of the benchmark."""

from __future__ import annotations

import argparse
import collections
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "importers/common"))

from checkout import provenance_of  # noqa: E402
from import_digest import TRACE_STEPS, importer_digest  # noqa: E402
from import_exchange import Result  # noqa: E402
from import_jail import SLOTS, ImportJail, Limits  # noqa: E402
from import_run import status_of, suite_name  # noqa: E402
from suite_folder import SuiteFolder  # noqa: E402
from trace_cases import Plan, plan_cases  # noqa: E402
from trace_dataset import read_dataset  # noqa: E402
from trace_operator import operator_files, operator_name  # noqa: E402
from trace_solutions import write_solutions  # noqa: E402
from trace_tensors import TensorFiles  # noqa: E402
from trace_types import Dataset, DefinitionFile  # noqa: E402

INTERPRETER_FLOPS = 1 << 25  # of a case with `interpreter = true`
DEFAULT_WORKLOADS = 8
MAX_REASON_CHARS = 500
# What helps against each kind of failure, if the reason itself does not say it.
REMEDIES = {
    "timeout": "--timeout-s N gives each definition more time",
    "crash": "the reason shows the last line that the reference printed",
    "unreadable": "check the file out again",
    "bad_reference": "the reference runs with Assay's torch; see the reason",
    "no_case": "the reference fails for every workload; see the reason",
    "own_evaluator": "nothing helps: Assay has no such comparison",
    "random_outputs": "nothing helps: Assay compares each element",
}


@dataclass(frozen=True)
class Benchmark:
    """A benchmark whose problems are definitions and workloads."""

    kind: str  # of `assay import`
    name: str
    read: Callable[[Path, list[str]], Dataset]  # the folder, and the names that are wanted
    solutions: str  # a pattern of files below the folder


FLASHINFER_TRACE = Benchmark(
    "flashinfer-trace", "FlashInfer Trace", read_dataset, solutions="solutions/**/*.json"
)


@dataclass(frozen=True)
class OperatorExchange:
    """The check of one operator, which trace_child.py runs."""

    name: str
    files: dict[str, bytes]

    def request(self) -> tuple[dict[str, Any], bytes]:
        sizes = [[name, len(data)] for name, data in self.files.items()]
        header = {"type": "operator", "name": self.name, "files": sizes}
        return header, b"".join(self.files.values())

    def take(self, frame: Any, result: Result) -> bool:
        if frame.type != "report":
            return False
        report = frame.header["report"]
        found = report["cases"]
        if not isinstance(found, dict):
            raise TypeError("`cases` is no object")
        cases = {}
        for name, one in found.items():
            if type(one["flops"]) is not int:
                raise TypeError("`flops` is no integer")
            problem = str(one["problem"])[:MAX_REASON_CHARS]
            cases[str(name)] = {"problem": problem, "flops": one["flops"]}
        result.report = {
            "kind": str(report["kind"])[:MAX_REASON_CHARS],
            "reason": str(report["reason"])[:MAX_REASON_CHARS],
            "cases": cases,
        }
        return True


def refused(kind: str, reason: str, left_out: list[str]) -> Result:
    report = {"kind": kind, "reason": reason, "left_out": left_out}
    return Result({**report, "operators": [], "seconds": 0.0})


class Importer:
    def __init__(self, benchmark: Benchmark, dataset: Dataset, options: argparse.Namespace) -> None:
        self._tensors = TensorFiles(dataset.folder)
        self._reading = threading.Lock()
        self.provenance = provenance_of(dataset.folder, benchmark.name)
        self._options = options
        self._names = _operator_names(dataset.files)
        for file in dataset.files:
            file.extra = self._tensors.digest(file.workloads)

    def operator_of(self, file: DefinitionFile) -> str:
        return self._names[file.name]

    def result(self, file: DefinitionFile, jail: ImportJail, slot: int) -> Result:
        """Returns the operator's files and the report of a definition."""
        if file.problem or file.definition is None:
            return refused(file.kind, file.problem, file.left_out)
        with self._reading:
            plan = plan_cases(
                file.definition, file.workloads, self._tensors, self._options.workloads
            )
        left_out = [*file.left_out, *plan.left_out]
        if not any(case.uuid for case in plan.cases):
            return refused("no_workload", left_out[0], left_out)
        name = self._names[file.name]
        limits = Limits(self._options.timeout_s, self._options.memory_mib)
        found = jail.run(slot, OperatorExchange(name, self._files(file, plan)), limits).report
        failed = {name for name, one in found.get("cases", {}).items() if one["problem"]}
        if plan.relax(failed):
            found = jail.run(slot, OperatorExchange(name, self._files(file, plan)), limits).report
        if found["kind"]:
            return refused(found["kind"], _without_kind(found), left_out)
        left_out += self._without_failed(plan, found["cases"])
        public = [case for case in plan.cases if not case.hidden]
        if not any(case.uuid for case in public):
            failed_ones = [reason for reason in left_out if reason.startswith("workload ")]
            return refused("no_case", failed_ones[-1], left_out)
        operator = {"name": name, "cases": len(public)}
        report = {"kind": "", "reason": "", "left_out": left_out}
        files = self._files(file, plan)
        return Result(
            {**report, "operators": [operator], "seconds": found["seconds"]},
            {(name, part): data for part, data in files.items()},
        )

    def _files(self, file: DefinitionFile, plan: Plan) -> dict[str, bytes]:
        assert file.definition is not None
        return operator_files(
            self._names[file.name], file.definition, plan, file.name, self.provenance
        )

    @staticmethod
    def _without_failed(plan: Plan, found: dict[str, Any]) -> list[str]:
        """Removes the cases that the reference cannot judge. Returns the reasons."""
        left_out, failed = [], set()
        for case in plan.cases:
            one = found.get(case.id, {"problem": "the jail did not run it", "flops": 0})
            if one["flops"] > INTERPRETER_FLOPS:
                case.interpreter = False
            if one["problem"]:
                failed.add(case.id)
                what = f"workload {case.uuid}" if case.uuid else f"case {case.id}"
                left_out.append(f"{what}: {one['problem']}")
        plan.drop(failed)
        return left_out


def _without_kind(found: dict[str, Any]) -> str:
    return str(found["reason"]).removeprefix(f"{found['kind']}: ")


def _operator_names(files: list[DefinitionFile]) -> dict[str, str]:
    names: dict[str, str] = {}
    taken: set[str] = set()
    for file in files:
        base = operator_name(file.label or file.name.removesuffix(".json"))
        name, number = base, 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name)
        names[file.name] = name
    return names


def line(report: dict[str, Any]) -> str:
    made = ", ".join(f"{one['name']} ({one['cases']})" for one in report["operators"])
    rows = [f"{report['file']:40}{made or 'no operator, ' + report['kind']}"]
    rows += [report["reason"]] if report["reason"] else []
    rows += [f"left out: {reason}" for reason in report["left_out"] if reason != report["reason"]]
    return "\n        ".join(rows)


def summary(reports: list[dict[str, Any]]) -> list[str]:
    made = sum(len(report["operators"]) for report in reports)
    kinds = collections.Counter(report["kind"] for report in reports if report["kind"])
    rows = []
    for kind, count in sorted(kinds.items()):
        remedy = f": {REMEDIES[kind]}" if kind in REMEDIES else ""
        rows.append(f"  {kind} ({count} file{'s' * (count > 1)}){remedy}")
    return [f"{len(reports)} files: {made} operators", *rows]


def import_all(
    files: list[DefinitionFile],
    importer: Importer,
    suite: SuiteFolder,
    jail: ImportJail,
    options: argparse.Namespace,
) -> None:
    """Each report is kept and printed as soon as its definition is done."""
    slots: queue.Queue[int] = queue.Queue()
    for slot in range(options.jobs):
        slots.put(slot)

    def one(file: DefinitionFile) -> dict[str, Any]:
        slot = slots.get()
        try:
            return suite.keep(file, importer.result(file, jail, slot))
        finally:
            slots.put(slot)

    with ThreadPoolExecutor(options.jobs) as pool:
        running: list[Future[dict[str, Any]]] = [pool.submit(one, file) for file in files]
        try:
            for done in as_completed(running):
                print(line(done.result()), flush=True)
        except BaseException:
            jail.stop()
            raise


def parse(benchmark: Benchmark) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"Imports problems of {benchmark.name}.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--target", default="cuda:90", help="has no meaning here")
    parser.add_argument("--jobs", type=int, choices=range(1, SLOTS + 1), default=1, metavar="N")
    parser.add_argument("--only", action="append", default=[], help="import this definition again")
    parser.add_argument("--again", action="store_true", help="import finished definitions again")
    parser.add_argument("--timeout-s", type=float, default=240, help="for each definition")
    parser.add_argument("--memory-mib", type=int, default=16384, help="for each process")
    parser.add_argument("--isolation", choices=["strict", "best-effort"], default="best-effort")
    parser.add_argument(
        "--workloads", type=int, default=DEFAULT_WORKLOADS, help="of each definition, at most"
    )
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build/release", help="where assay-jail was built"
    )
    return parser.parse_args()


def run(benchmark: Benchmark, options: argparse.Namespace) -> None:
    dataset = benchmark.read(options.folder, options.only)
    importer = Importer(benchmark, dataset, options)
    settings = {"importer": importer_digest(TRACE_STEPS), "workloads": options.workloads}
    name = suite_name(benchmark.kind, importer.provenance)
    limits = {"timeout_s": options.timeout_s, "memory_mib": options.memory_mib}
    with SuiteFolder(options.out, settings, name, limits) as suite:
        again = options.again or bool(options.only)
        if not options.only:
            suite.forget_others({file.name for file in dataset.files})
        wanted = [file for file in dataset.files if again or not suite.has(file)]
        if len(wanted) < len(dataset.files):
            done = len(dataset.files) - len(wanted)
            print(f"{done} files were imported earlier; {len(wanted)} are left")
        if wanted:
            with ImportJail(
                options.build.resolve(), options.isolation == "strict", "trace_child"
            ) as jail:
                import_all(wanted, importer, suite, jail, options)
                if jail.missing_layers:
                    missing = ", ".join(jail.missing_layers)
                    print(f"the jail lacks isolation layers: {missing} (assay doctor)")
        reports = [suite.report(file.name) for file in dataset.files]
        names = {
            file.definition.name: importer.operator_of(file)
            for file in dataset.files
            if file.definition and suite.report(file.name)["operators"]
        }
        solutions = sorted(options.folder.glob(benchmark.solutions))
        for text in [*summary(reports), *write_solutions(solutions, options.out, names)]:
            print(text, flush=True)


def main(benchmark: Benchmark = FLASHINFER_TRACE) -> int:
    options = parse(benchmark)
    return status_of(benchmark.kind, lambda: run(benchmark, options))


if __name__ == "__main__":
    sys.exit(main())
