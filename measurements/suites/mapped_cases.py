"""Counts how often the launches of a job map the judge's memory, for each operator of Assay.

    python measurements/suites/mapped_cases.py --out measurements/results/mapped-cases.json

A case whose inputs and outputs have at most `host_case_bytes` goes through memory files, unless it
will be timed. For each limit, the script follows the rules of the judge
(sandbox/harness/judging/shared_buffers.py) and of the launcher (sandbox/launcher/process/serve.cc),
which tests/sandbox/launcher/process/serve_test.cc tests. Only launches that are not timed count: one
for each public case in a test, and one for each case in a grade. It needs no GPU. Operators whose
shapes depend on values are left out."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "sandbox"), str(ROOT / "measurements")]

from environment import environment  # noqa: E402
from harness.judging.case_state import CaseState  # noqa: E402
from harness.operator import Operator  # noqa: E402

LIMITS = (0, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20)
LEAST_COST_SHARE = 1 / 8  # kLeastCostShare (sandbox/job/verdict_builder.h)


def maps_before(on_device: list[bool]) -> int:
    """Until this was counted, each case mapped the memory for its inputs, and for its outputs."""
    return 2 * len(on_device)


def maps_now(on_device: list[bool]) -> int:
    """The memory stays mapped from the outputs of a case to the inputs of the next case, unless the
    next case does not use it."""
    maps, is_mapped = 0, False
    for device in on_device:
        maps += (0 if is_mapped else 1) + 1 if device else 0
        is_mapped = device
    return maps


def described(operator: Operator) -> list[dict[str, Any]] | None:
    """Returns the visibility, the bytes and the cost of each case, or None if they need inputs."""
    found = []
    for table in operator.spec["cases"]:
        case = operator.case(table, "cpu")
        shapes = operator.shapes(case)
        if shapes is None:
            return None
        state = CaseState(operator, case, shapes)
        cost = operator.cost(state.case)
        found.append(
            {
                "id": case.id,
                "public": table["visibility"] == "public",
                "bytes": state.copied_bytes(),
                "cost": (float(cost.bytes), float(cost.flops)),
            }
        )
    return found


def timed(cases: list[dict[str, Any]]) -> list[bool]:
    """Returns which cases of a grade are timed (worth_timing() in verdict_builder.cc)."""
    most = [max(one["cost"][i] for one in cases) for i in (0, 1)]
    return [
        any(
            largest > 0 and one["cost"][i] >= LEAST_COST_SHARE * largest
            for i, largest in enumerate(most)
        )
        for one in cases
    ]


def counts(cases: list[dict[str, Any]], limit: int) -> dict[str, int]:
    public = [one for one in cases if one["public"]]
    on_device = [one["bytes"] > limit for one in public]
    # In a grade, the public cases come first.
    ordered = public + [one for one in cases if not one["public"]]
    graded = [
        one["bytes"] > limit or is_timed
        for one, is_timed in zip(ordered, timed(ordered), strict=True)
    ]
    return {
        "test_before": maps_before(on_device),
        "test": maps_now(on_device),
        "grade_before": maps_before(graded),
        "grade": maps_now(graded),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Counts how often launches map memory.")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    operators, left_out = {}, []
    for spec in sorted((ROOT / "operators").glob("*/*/spec.toml")):
        cases = described(Operator.load(spec.parent))
        if cases is None:
            left_out.append(spec.parent.name)
        else:
            operators[spec.parent.name] = cases
    samples = {
        limit: {name: counts(cases, limit) for name, cases in operators.items()} for limit in LIMITS
    }
    result = {
        "environment": environment(),
        "operators": len(operators),
        "left_out": left_out,
        "mean_maps_of_a_job": {
            str(limit): {
                key: round(statistics.mean(one[key] for one in by_name.values()), 2)
                for key in ("test_before", "test", "grade_before", "grade")
            }
            for limit, by_name in samples.items()
        },
        "small_public_cases": {
            str(limit): round(
                statistics.mean(
                    one["bytes"] <= limit
                    for cases in operators.values()
                    for one in cases
                    if one["public"]
                ),
                3,
            )
            for limit in LIMITS
        },
        "samples": {str(limit): by_name for limit, by_name in samples.items()},
        "case_bytes": {
            name: {one["id"]: one["bytes"] for one in cases} for name, cases in operators.items()
        },
    }
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result["mean_maps_of_a_job"], indent=1))
    print(json.dumps(result["small_public_cases"]), len(operators), left_out)


if __name__ == "__main__":
    main()
