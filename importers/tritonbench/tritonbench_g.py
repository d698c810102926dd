"""Implements `assay import tritonbench-g`: imports the golden files of TritonBench-G
(thunlp/TritonBench) as a suite, and finds the tier of each file. Other benchmarks of the same format
have scripts of their own, which call main() (geak_tritonbench.py, geak_rocm.py).

    # This command writes SUITE/standard/NAME/ and SUITE/import.json.
    python importers/tritonbench/tritonbench_g.py data/TritonBench_G_v1 --out SUITE

A line of '#' divides each file into two parts. Above the line is the kernel part, which becomes the
operator's oracle, and which a submission replaces. Below the line is the test part, which makes the
inputs; only the judge uses it (harness/imported/golden.py). The tier of a file is `plan` if every
call is recorded as in a scored submission. It is `host` if a call cannot be recorded (for example,
because host code reads values), but may work with a GPU inside the jail. It is `neither` after any
other failure, for example if the file does not compile or its test part fails. Assay contains no
part of the benchmark."""

from __future__ import annotations

import argparse
import collections
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "importers/common"))

from golden_folder import (  # noqa: E402
    DIFFICULTY,
    TRITONBENCH_G,
    Benchmark,
    golden_files,
    index_path,
)
from import_digest import importer_digest  # noqa: E402
from import_jail import SLOTS, ImportJail  # noqa: E402
from import_run import (  # noqa: E402
    REMEDIES,
    REVISION_CHARS,
    import_all,
    revision_note,
    status_of,
    suite_name,
)
from suite_folder import SuiteFolder  # noqa: E402

Summary = Callable[[list[dict[str, Any]]], list[str]]
EXPECTED = ("plan", "eager")  # tiers that the lines of the output do not mention


def line(report: dict[str, Any]) -> str:
    made = [
        f"{one['name']} ({one['cases']}{'' if one['tier'] in EXPECTED else ', ' + one['tier']})"
        for one in report["operators"]
    ]
    what = ", ".join(made) or "; ".join(["no operator", *report["left_out"]])
    rows = [f"{report['tier']:8}{report['file']:36}{what}"]
    rows += [report["reason"]] if report["reason"] and report["reason"] not in what else []
    rows += [
        f"{one['name']} is {one['tier']}: {one['reason']}"
        for one in report["operators"]
        if one["tier"] not in EXPECTED and one["reason"] != report["reason"]
    ]
    return "\n        ".join(rows)


def summary(reports: list[dict[str, Any]]) -> list[str]:
    tiers = collections.Counter(report["tier"] for report in reports)
    with_operators = sum(bool(report["operators"]) for report in reports)
    counted = ", ".join(f"{tiers[tier]} {tier}" for tier in ("plan", "host", "neither"))
    kinds = collections.Counter(report["kind"] for report in reports if report["tier"] == "neither")
    remedies = [
        f"  {kind} ({count} file{'s' * (count > 1)}): {REMEDIES[kind]}"
        for kind, count in sorted(kinds.items())
        if kind in REMEDIES
    ]
    operators = [one for report in reports for one in report["operators"]]
    without_gpu = sum(bool(one.get("interpreted")) for one in operators)
    other_shapes = sum(bool(one.get("other_shapes")) for one in operators)
    return [
        f"{len(reports)} files: {counted}; operators of {with_operators} files",
        f"{len(operators)} operators; {without_gpu} of them have cases that run without a GPU, "
        f"{other_shapes} have a hidden case of other shapes",
        *remedies,
    ]


def parse(benchmark: Benchmark) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=f"Imports the files of {benchmark.name}.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--target", default="cuda:90")
    parser.add_argument("--jobs", type=int, choices=range(1, SLOTS + 1), default=1, metavar="N")
    parser.add_argument("--only", action="append", default=[], help="import this file again")
    parser.add_argument("--again", action="store_true", help="import finished files again")
    parser.add_argument("--timeout-s", type=float, default=240, help="for each file")
    parser.add_argument("--memory-mib", type=int, default=16384, help="for each process of a file")
    parser.add_argument("--isolation", choices=["strict", "best-effort"], default="best-effort")
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build/release", help="where assay-jail was built"
    )
    return parser.parse_args()


def index_note(folder: Path, benchmark: Benchmark) -> str:
    """Returns a note if the benchmark's index is missing, or "". Later revisions of GEAK-eval lack
    it, for example."""
    path = index_path(folder, benchmark)
    if path.exists():
        return ""
    return (
        f"{path} is missing, so the operators have no descriptions, and all have the difficulty "
        f"{DIFFICULTY}; the revision that the importer was tried with has it (git checkout "
        f"{benchmark.tried[:REVISION_CHARS]})"
    )


def run(options: argparse.Namespace, benchmark: Benchmark, summarised: Summary) -> None:
    files = golden_files(options.folder, options.only, benchmark)
    settings = {"target": options.target, "importer": importer_digest()}
    limits = {"timeout_s": options.timeout_s, "memory_mib": options.memory_mib}
    name = suite_name(benchmark.command, files[0].provenance)
    names = {golden.name for golden in files}

    def belongs(file: str) -> bool:
        return not options.only or file in names

    with SuiteFolder(options.out, settings, name, limits, belongs) as suite:
        notes = (
            revision_note(files[0].provenance, benchmark.tried),
            index_note(options.folder, benchmark),
        )
        for note in filter(None, notes):
            print(note, flush=True)
        again = options.again or bool(options.only)
        if not options.only:
            suite.forget_others({golden.name for golden in files})
        wanted = [golden for golden in files if again or not suite.has(golden)]
        if len(wanted) < len(files):
            print(f"{len(files) - len(wanted)} files were imported earlier; {len(wanted)} are left")
        if wanted:
            with ImportJail(options.build.resolve(), options.isolation == "strict") as jail:
                import_all(wanted, suite, jail, options, line)
                if jail.missing_layers:
                    missing = ", ".join(jail.missing_layers)
                    print(f"the jail lacks isolation layers: {missing} (assay doctor)")
        for text in summarised([suite.report(golden.name) for golden in files]):
            print(text, flush=True)


def main(benchmark: Benchmark = TRITONBENCH_G, summarised: Summary = summary) -> int:
    """Imports a benchmark. `summarised` makes the last lines of the output from the reports."""
    options = parse(benchmark)
    return status_of(benchmark.command, lambda: run(options, benchmark, summarised))


if __name__ == "__main__":
    sys.exit(main())
