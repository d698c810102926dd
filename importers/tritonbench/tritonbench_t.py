"""Implements `assay import tritonbench-t`: imports TritonBench-T (thunlp/TritonBench) as a suite.

    # This command writes SUITE/standard/NAME/ and SUITE/import.json.
    python importers/tritonbench/tritonbench_t.py data/TritonBench_T_v1 --out SUITE

A line of '#' divides each file into two parts: a function of PyTorch, which is the task, and tests,
which call it. There are no fast kernels, so the operators have no oracle: Perf compares with PyTorch
eager. Each call of the tests becomes a public case. Hidden cases have other values and sizes, and the
timed cases are larger than the benchmark's own (eager_build.py). Everything that runs the files runs
in the jail. Assay contains no part of the benchmark."""

from __future__ import annotations

import collections
import sys
from typing import Any

import tritonbench_g
from golden_folder import TRITONBENCH_REVISION, Benchmark

# What each reason for a refusal means, or what helps.
REASONS = {
    "complex_dtype": "Assay has no complex tensors",
    "crash": "the reason shows the last line that the file printed",
    "empty_tensor": "a call with a tensor without elements is left out",
    "fails_in_float64": "the strict rule needs a reference that accepts float64",
    "mutant_passes": "no inputs were found that tell a wrong kernel from a right one",
    "imprecise": "no tolerance was found that tells rounding from a wrong result",
    "module_not_found": "install the module for ASSAY_PYTHON",
    "no_call": "the test part calls no function of the reference part",
    "no_tensor": "nothing that the function returns or writes to is a tensor",
    "no_tensor_argument": "the function makes tensors from numbers alone",
    "not_finite": "no inputs were found for which all outputs are finite",
    "not_in_float64": "the strict rule needs a reference that computes in float64",
    "not_unique": "a right answer may differ, as in the signs of singular vectors",
    "object": "an argument is an object that cannot be written as text",
    "raises": "the reference accepts none of the inputs that the importer can draw",
    "random": "a right answer cannot be compared if the function draws random numbers",
    "timeout": "--timeout-s N gives each file more time",
    "unreadable": "check the file out again",
    "value_dependent_shape": "the sizes of the outputs depend on the values of the inputs",
}
OTHER = "the reason shows the error of the file"


def describe(entry: dict[str, Any]) -> str:
    """Returns the statement of a task from the benchmark's index."""
    parts = [str(entry.get(key, "")).strip() for key in ("func_inputs", "description", "other")]
    math = str(entry.get("math", "")).strip()
    parts += [f"Formula: {math}"] if math else []
    return "\n\n".join(part for part in parts if part)


TRITONBENCH_T = Benchmark(
    name="TritonBench-T",
    command="tritonbench-t",
    repository="thunlp/TritonBench",
    folder="data/TritonBench_T_v1",
    index="TritonBench_T_v1.jsonl",
    index_keys="`file`, `func_inputs`, `description` and `difficulty`",
    kind="eager",
    tried=TRITONBENCH_REVISION,
    describe=describe,
)


def summary(reports: list[dict[str, Any]]) -> list[str]:
    operators = sum(len(report["operators"]) for report in reports)
    having = sum(bool(report["operators"]) for report in reports)
    kinds = collections.Counter(report["kind"] for report in reports if not report["operators"])
    refused = [
        f"  {kind} ({count} file{'s' * (count > 1)}): {REASONS.get(kind, OTHER)}"
        for kind, count in sorted(kinds.items())
    ]
    return [f"{len(reports)} files: {operators} operators of {having} files", *refused]


if __name__ == "__main__":
    sys.exit(tritonbench_g.main(TRITONBENCH_T, summary))
