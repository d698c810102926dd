"""Finds wrong answers that KernelBench's own inputs and tolerance accept, and says whether Assay's
cases reject them.

    assay import kernelbench CHECKOUT --level 1 --out suite
    python measurements/suites/kernelbench_findings.py suite --out measurements/results/kernelbench-findings.json
    python measurements/suites/kernelbench_findings.py --table \
        measurements/results/kernelbench-findings.json --page docs/measurements/kernelbench.md

For each operator with small cases, the wrong answers are those that `operators lint` makes of the
expected outputs (harness/judging/mutants.py). *The benchmark accepts* one if it passes
torch.allclose(atol=1e-4, rtol=1e-4) in the small case with the benchmark's own distribution of
inputs and its constructor's parameters. *Assay accepts* one if it passes every small case of the
operator, with Assay's rules. The results contain names of problems and findings, and no code of the
benchmark. Runs the files of the suite, so use a suite that you trust."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "sandbox"), str(ROOT / "measurements")]

import torch  # noqa: E402
from environment import environment  # noqa: E402
from harness.imported.problem import Problem  # noqa: E402
from harness.judging.compare import is_wrong  # noqa: E402
from harness.judging.mutants import mutants  # noqa: E402
from harness.judging.rules import rules_for, scaled_rules  # noqa: E402
from harness.operator import Arguments, Case, Operator, Rng  # noqa: E402

SEED = 1
LINE_CHARS = 99
TOLERANCE = 1e-4  # of the benchmark, for float32
BEGIN, END = "<!-- findings -->", "<!-- end of findings -->"
# What `operators lint` calls each wrong answer, in words for the table.
WORDS = {
    "inputs down-cast to bfloat16": "inputs rounded to bfloat16",
    "zeros": "all zeros",
    "ones": "all ones",
    "mean": "the mean of the right answer",
    "permuted rows": "rows in another order",
    "shifted by one": "shifted by one element",
    "tail skipped": "the tail left out",
    "half computed": "the second half left out",
    "one row wrong": "one row wrong",
    "last element wrong": "the last element wrong",
}


def benchmark_accepts(expected: list[torch.Tensor], wrong: list[torch.Tensor]) -> bool:
    return all(
        torch.allclose(x.double(), y.double(), atol=TOLERANCE, rtol=TOLERANCE)
        for x, y in zip(expected, wrong, strict=True)
    )


def small_cases(operator: Operator) -> list[Case]:
    return [operator.case(wire, "cpu") for wire in operator.spec["cases"] if wire["interpreter"]]


def own_parameters(operator: Operator, arguments: Arguments, case: Case) -> dict[str, Any]:
    """Returns the arguments with the parameters that the benchmark's constructor makes."""
    problem: Problem = operator.module._PROBLEM
    return {**arguments, **problem.constructed(case, Rng(SEED, "cpu"))}


def findings(operator: Operator) -> dict[str, Any] | None:
    """Returns what the benchmark and Assay accept, or None if the operator has no small case."""
    cases = small_cases(operator)
    given = [case for case in cases if case.distribution == "given"]
    if not given:
        return None
    case = given[0]
    arguments = operator.inputs(case, SEED)
    own = own_parameters(operator, arguments, case)
    expected = operator.expected(case, own)
    # The benchmark compares what forward returns, and not the buffers that it changes.
    returned = sum(not output.source for output in operator.outputs)
    found = {
        mutant.name
        for mutant in mutants(operator, case, own, expected)
        if not mutant.trivial
        and not mutant.name.endswith("_after)")
        and benchmark_accepts(expected[:returned], mutant.outputs[:returned])
    }
    constant = sorted(
        name
        for name, value in own.items()
        if name.startswith("p_")
        and "running_" not in name
        and value.numel() > 1
        and bool((value == value.flatten()[0]).all())
    )
    accepted = None
    for one in cases:
        drawn = operator.inputs(one, SEED)
        right = operator.expected(one, drawn)
        rules = scaled_rules(operator, rules_for(operator, one), right)
        passing = {
            mutant.name
            for mutant in mutants(operator, one, drawn, right)
            if not mutant.trivial and not is_wrong(rules, right, mutant.outputs)
        }
        accepted = passing if accepted is None else accepted & passing
    return {
        "operator": operator.name,
        "benchmark_accepts": sorted(found),
        "constant_parameters": constant,
        "assay_accepts": sorted(accepted or set()),
    }


def measure(suite: Path) -> dict[str, Any]:
    rows, without = [], []
    started = time.monotonic()
    for folder in sorted((suite / "standard").iterdir(), key=lambda path: path.name):
        found = findings(Operator.load(folder))
        if found is None:
            without.append(folder.name)
            continue
        rows.append(found)
        print(json.dumps(found), flush=True)
    return {
        "environment": environment(),
        "seconds": round(time.monotonic() - started, 1),
        "without_small_case": without,
        "operators": rows,
    }


def in_words(name: str) -> str:
    what, _, output = name.partition(" (")
    words = WORDS.get(what, f"a copy of {what}" if what.startswith("input ") else what)
    return words if output in ("", "y0)") else f"{words} ({output}"


def table(found: dict[str, Any]) -> str:
    lines = [
        "| problem | wrong answers that the benchmark accepts | of these, Assay accepts | constant "
        "parameters, which a kernel could ignore |",
        "|---|---|---|---|",
    ]
    for row in found["operators"]:
        accepted, constant = row["benchmark_accepts"], row["constant_parameters"]
        if not accepted and not constant:
            continue
        both = [name for name in accepted if name in row["assay_accepts"]]
        cells = [
            row["operator"],
            ", ".join(map(in_words, accepted)) or "none",
            ", ".join(map(in_words, both)) or "none",
            ", ".join(f"`{name.removeprefix('p_')}`" for name in constant) or "none",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def counts(found: dict[str, Any]) -> str:
    rows = found["operators"]
    weak = [row for row in rows if row["benchmark_accepts"]]
    copies = [
        row for row in rows if any(name.startswith("input ") for name in row["benchmark_accepts"])
    ]
    constant = [row for row in rows if row["constant_parameters"]]
    left = [row for row in rows if set(row["benchmark_accepts"]) & set(row["assay_accepts"])]
    text = (
        f"Of {len(rows)} problems with a small case, {len(weak)} accept at least one wrong answer "
        f"with the benchmark's own inputs; {len(copies)} of these accept a copy of an input. "
        f"{len(constant)} problems have parameters that are constant, so a kernel could ignore them. "
        f"With Assay's cases, {len(left)} problems still accept one of the same wrong answers. "
        f"{len(found['without_small_case'])} problems have no small case and are not in the table."
    )
    return textwrap.fill(text, LINE_CHARS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path, nargs="?")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="results from which the page is written")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.table is not None:
        found = json.loads(options.table.read_text(encoding="utf-8"))
        page = options.page.read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        text = f"{before}{BEGIN}\n{counts(found)}\n\n{table(found)}\n{END}{after}"
        options.page.write_text(text, encoding="utf-8")
        return 0
    if options.suite is None or options.out is None:
        parser.error("name a suite and --out, or --table and --page")
    options.out.write_text(json.dumps(measure(options.suite), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
