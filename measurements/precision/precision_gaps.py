"""Measures which losses of precision the small cases of each operator do not reject.

    python measurements/precision/precision_gaps.py --out measurements/results/precision-gaps-cpu.json
    python measurements/precision/precision_gaps.py --device cuda:0 --large --out gaps-large.json

Lint models the same kernels (sandbox/harness/judging/precision.py). One kernel rounds a single input
to bfloat16. Another accumulates the products of float16 matrices in float16. Unlike lint, this
script tries every small case, so it also says how many cases reject a kernel, and which inputs
bfloat16 represents in all small cases. With --large it tries all other cases instead. They need a
GPU. With --seconds no operator begins after this time, and with --part 1/2 the script takes every
second operator; the result has only the operators that were tried. Lint draws the inputs of a case
once. With --seed other inputs are drawn, which shows whether a kernel is rejected only by luck."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "sandbox"), str(ROOT / "measurements")]

from environment import environment  # noqa: E402
from harness.judging.precision import (  # noqa: E402
    accepted_error,
    is_small,
    precise_inputs,
    with_float16_sums,
    with_rounded_inputs,
)
from harness.judging.rules import rules_for, scaled_rules  # noqa: E402
from harness.operator import Arguments, Case, Operator  # noqa: E402
from operator_folders import operator_folders  # noqa: E402

SUMS = "sums"


def cases_of(
    operator: Operator, device: str, large: bool, seed: int
) -> Iterator[tuple[Case, Arguments]]:
    for table in operator.spec["cases"]:
        is_triton = operator.spec.get("dialect") == "triton"
        if is_triton and large == (table.get("interpreter") is True):
            continue
        case = operator.case(table, device)
        described = operator.shapes(case)
        if described is not None and is_small(operator, case, described) == large:
            continue
        arguments = operator.inputs(case, seed)
        if is_small(operator, case, arguments) != large:
            yield case, arguments


def losses_of(operator: Operator, device: str, large: bool, seed: int) -> dict[str, list[str]]:
    """Returns, for each input that can be rounded and for the sums, what each case says: "same"
    (the outputs are the right ones), "rejected" or "accepted"."""
    found: dict[str, list[str]] = {}
    for case, arguments in cases_of(operator, device, large, seed):
        expected = operator.expected(case, arguments)
        rules = scaled_rules(operator, rules_for(operator, case), expected)
        outputs = {
            name: with_rounded_inputs(operator, arguments, [name])
            for name in precise_inputs(arguments, expected)
        }
        sums = with_float16_sums(operator, case, arguments)
        if sums is not None:
            outputs[SUMS] = sums
        for name, wrong in outputs.items():
            error = accepted_error(rules, expected, wrong)
            word = "same" if error is None else "rejected" if error < 0 else "accepted"
            found.setdefault(name, []).append(word)
    return found


def gaps_of(found: dict[str, list[str]]) -> dict[str, Any]:
    inputs = {name: words for name, words in found.items() if name != SUMS}
    missed = {name for name, words in found.items() if "rejected" not in words}
    return {
        "inputs": sorted(name for name in inputs if name in missed and "accepted" in found[name]),
        "exact_inputs": sorted(
            name for name in inputs if name in missed and "accepted" not in found[name]
        ),
        "float16_sums": SUMS in missed if SUMS in found else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--large", action="store_true", help="try the cases that are not small")
    parser.add_argument("--seconds", type=float, default=1e9, help="then no operator begins")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", default="1/1", help="K/N: the K-th of N parts of the operators")
    parser.add_argument("operators", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(1)
    # As in the judge: the references must not compute with fewer bits.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    end = time.monotonic() + options.seconds
    part, parts = map(int, options.part.split("/"))
    found, gaps, failed = {}, {}, {}
    for folder in list(operator_folders(options.operators))[part - 1 :: parts]:
        if time.monotonic() > end:
            break
        operator = Operator.load(folder)
        try:
            found[operator.name] = losses_of(operator, options.device, options.large, options.seed)
        except torch.OutOfMemoryError as error:
            failed[operator.name] = str(error).partition("\n")[0]
            continue
        gaps[operator.name] = gaps_of(found[operator.name])
    summary = {
        "operators": len(gaps),
        "one_rounded_input_passes": sum(bool(one["inputs"]) for one in gaps.values()),
        "with_an_input_that_bfloat16_represents": sum(
            bool(one["exact_inputs"]) for one in gaps.values()
        ),
        "with_float16_products": sum(one["float16_sums"] is not None for one in gaps.values()),
        "float16_sums_pass": sum(one["float16_sums"] is True for one in gaps.values()),
    }
    document = {
        "script": "measurements/precision/precision_gaps.py",
        "cases": "large" if options.large else "small",
        "environment": environment(),
        "part": options.part,
        "seed": options.seed,
        "summary": summary,
        "failed": failed,
        "gaps": {name: one for name, one in gaps.items() if any(one.values())},
        "rejecting_cases": {
            name: {what: words.count("rejected") for what, words in one.items()}
            for name, one in found.items()
            if one
        },
    }
    options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
