"""Implements `assay import kernelbench`: imports the problems of one level of KernelBench
(ScalingIntelligence/KernelBench) as a suite.

    # This command writes SUITE/standard/level1_NAME/ and SUITE/import.json.
    python importers/kernelbench/kernelbench.py CHECKOUT --level 1 --out SUITE

A problem file defines a class `Model` and makes its inputs. A submission defines a class `ModelNew`
with the same constructor, forward, parameters and buffers. The levels may share one suite. Assay
contains no part of the benchmark."""

from __future__ import annotations

import argparse
import collections
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "importers/common"))

from import_digest import importer_digest  # noqa: E402
from import_jail import SLOTS, ImportJail  # noqa: E402
from import_run import REMEDIES as COMMON_REMEDIES  # noqa: E402
from import_run import import_all, revision_note, status_of, suite_name  # noqa: E402
from kernelbench_folder import LEVELS, TRIED, file_name, problem_files  # noqa: E402
from suite_folder import SuiteFolder  # noqa: E402

CASE_MEMORY_MIB = 20480
# What helps against each kind of failure.
REMEDIES = {
    **{key: COMMON_REMEDIES[key] for key in ("timeout", "memory_limit", "crash", "unreadable")},
    "module_not_found": "install the module for ASSAY_PYTHON",
    "not_a_problem": "a problem file defines Model, get_inputs and get_init_inputs",
    "syntax_error": "check the file out again",
    "raises": "the reason shows the exception of the file's own code",
    "random": "no answer can be compared with random numbers, so the problem has no verdict",
    "not_finite": "no answer can be compared with infinity or NaN, so the problem has no verdict",
    "no_output": "an operator needs an output",
    "dtype": "an operator has no tensor of this type",
    "empty_tensor": "an operator has no empty tensor",
    "unwritable_argument": "get_inputs and get_init_inputs may have tensors, numbers, and lists",
    "case_memory": "--case-memory-mib N allows larger cases; the GPU needs about four times N",
}


def summary(reports: list[dict[str, Any]]) -> list[str]:
    made = [report for report in reports if report["operators"]]
    notes = collections.Counter(note for report in made for note in report["left_out"])
    kinds = collections.Counter(report["kind"] for report in reports if not report["operators"])
    seconds = sum(report["seconds"] for report in reports)
    return [
        f"{len(reports)} problems: {len(made)} operators, {len(reports) - len(made)} refused; "
        f"{seconds:.0f} s of imports",
        *(f"  {note} ({count})" for note, count in sorted(notes.items())),
        *(
            f"  refused: {kind} ({count}): {REMEDIES[kind]}"
            for kind, count in sorted(kinds.items())
        ),
    ]


def line(report: dict[str, Any]) -> str:
    if not report["operators"]:
        return f"refused  {report['file']}\n         {report['reason']}"
    one = report["operators"][0]
    notes = "".join(f"\n         {note}" for note in report["left_out"])
    return f"operator {one['name']} ({one['cases']} cases, {report['seconds']} s){notes}"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Imports the problems of KernelBench.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--level", type=int, choices=LEVELS, required=True)
    parser.add_argument("--target", default="cuda:90")
    parser.add_argument("--jobs", type=int, choices=range(1, SLOTS + 1), default=1, metavar="N")
    parser.add_argument("--only", action="append", default=[], help="import this file again")
    parser.add_argument("--again", action="store_true", help="import finished files again")
    parser.add_argument("--timeout-s", type=float, default=240, help="for each file")
    parser.add_argument("--memory-mib", type=int, default=16384, help="for each process of a file")
    parser.add_argument(
        "--case-memory-mib",
        type=int,
        default=CASE_MEMORY_MIB,
        help="the most MiB that the tensors of a problem may have",
    )
    parser.add_argument("--isolation", choices=["strict", "best-effort"], default="best-effort")
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build/release", help="where assay-jail was built"
    )
    return parser.parse_args()


def run(options: argparse.Namespace) -> None:
    limits = {"case_memory_mib": options.case_memory_mib}
    files = problem_files(options.folder, options.level, options.only, limits)
    settings = {"importer": importer_digest(), **limits}
    name = suite_name("kernelbench", files[0].provenance)
    reached = {"timeout_s": options.timeout_s, "memory_mib": options.memory_mib}
    names = {file.name for file in files}
    level = file_name(options.level, "")

    def belongs(file: str) -> bool:
        return file in names or (not options.only and file.startswith(level))

    with SuiteFolder(options.out, settings, name, reached, belongs) as suite:
        if note := revision_note(files[0].provenance, TRIED):
            print(note, flush=True)
        again = options.again or bool(options.only)
        if not options.only:
            suite.forget_others(names, level)
        wanted = [file for file in files if again or not suite.has(file)]
        if len(wanted) < len(files):
            print(f"{len(files) - len(wanted)} files were imported earlier; {len(wanted)} are left")
        if wanted:
            strict = options.isolation == "strict"
            with ImportJail(options.build.resolve(), strict) as jail:
                import_all(wanted, suite, jail, options, line)
                if jail.missing_layers:
                    missing = ", ".join(jail.missing_layers)
                    print(f"the jail lacks isolation layers: {missing} (assay doctor)")
        for text in summary([suite.report(file.name) for file in files]):
            print(text, flush=True)


def main() -> int:
    options = parse()
    return status_of("kernelbench", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())
