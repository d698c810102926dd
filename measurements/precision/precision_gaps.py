"""Measures which losses of precision the small cases of each operator do not reject.

    python measurements/precision/precision_gaps.py --out measurements/results/precision-gaps-cpu.json

Two kernels are modelled for each operator, with its reference. One rounds a single input to
bfloat16. The other accumulates the products of float16 matrices in float16. A small case is one that
Triton's interpreter runs or, for other dialects, one with at most SMALL_ELEMENTS elements. A large
case may reject what no small case rejects. Lint requires only that a small case rejects the
rounding of all inputs together."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "sandbox"), str(ROOT / "measurements")]

from environment import environment  # noqa: E402
from harness.judging.case_state import rules_for, scaled_rules  # noqa: E402
from harness.judging.compare import compare  # noqa: E402
from harness.operator import Arguments, Case, Operator  # noqa: E402
from operator_folders import operator_folders  # noqa: E402

SMALL_ELEMENTS = 2_000_000
SEED = 1
PRECISE = (torch.float16, torch.float32)


class Float16Accumulators(TorchDispatchMode):
    """Rounds the sum to float16 after each product of a matrix product."""

    def __init__(self) -> None:
        super().__init__()
        self.products = 0

    def _product(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        self.products += 1
        shape = (*a.shape[:-1], b.shape[-1])
        total = torch.zeros(shape, dtype=torch.float16, device=a.device)
        for i in range(a.shape[-1]):
            product = a[..., i : i + 1].float() * b[..., i : i + 1, :].float()
            total = (total.float() + product).half()
        return total.to(a.dtype)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        aten, options = torch.ops.aten, kwargs or {}
        packet = func.overloadpacket
        if packet in (aten.mm, aten.bmm) and args[0].dtype in PRECISE:
            return self._product(args[0], args[1])
        if packet in (aten.addmm, aten.baddbmm) and args[1].dtype in PRECISE:
            added = options.get("beta", 1) * args[0]
            return added + options.get("alpha", 1) * self._product(args[1], args[2])
        return func(*args, **options)


def small_cases(operator: Operator) -> Iterator[tuple[Case, Arguments]]:
    for table in operator.spec["cases"]:
        if operator.spec.get("dialect") == "triton" and not table.get("interpreter"):
            continue
        case = operator.case(table, "cpu")
        arguments = operator.inputs(case, SEED)
        tensors = [one for one in arguments.values() if isinstance(one, torch.Tensor)]
        if sum(one.numel() for one in tensors) <= SMALL_ELEMENTS:
            yield case, arguments


def rejects(
    operator: Operator, case: Case, expected: list[torch.Tensor], outputs: Any
) -> bool | None:
    """Returns whether the case rejects the outputs, or None if they are the right ones."""
    got = [one.to(right.dtype) for one, right in zip(outputs, expected, strict=True)]
    if all(torch.equal(a, b) for a, b in zip(got, expected, strict=True)):
        return None
    rules = scaled_rules(operator, rules_for(operator, case), expected)
    return not compare(rules, expected, got, None).ok


def gaps_of(operator: Operator) -> dict[str, list[str] | bool | None]:
    """`inputs` are those whose rounding every small case accepts. `float16_sums` is whether every
    small case accepts float16 accumulators, or None if the operator has no such product."""
    rounded: dict[str, bool] = {}  # whether a case rejected it
    sums: bool | None = None
    for case, arguments in small_cases(operator):
        expected = operator.expected(case, arguments)
        names = [
            name
            for name, value in arguments.items()
            if isinstance(value, torch.Tensor) and value.dtype in PRECISE
        ]
        if not any(one.dtype in PRECISE for one in expected):
            names = []
        for name in names:
            value = arguments[name].to(torch.bfloat16).to(arguments[name].dtype)
            outputs = operator.reference({**arguments, name: value})
            found = rejects(operator, case, expected, outputs)
            if found is not None:
                rounded[name] = rounded.get(name, False) or found
        if case.dtype is not torch.float16:
            continue
        with Float16Accumulators() as accumulators:
            outputs = operator.reference(arguments)
        if accumulators.products:
            found = rejects(operator, case, expected, outputs)
            sums = (sums or False) or bool(found) if found is not None else sums
    return {
        "inputs": sorted(name for name, found in rounded.items() if not found),
        "float16_sums": None if sums is None else not sums,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("operators", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = {}
    for folder in operator_folders(options.operators):
        operator = Operator.load(folder)
        found[operator.name] = gaps_of(operator)
    kept = {name: one for name, one in found.items() if one["inputs"] or one["float16_sums"]}
    summary = {
        "operators": len(found),
        "one_rounded_input_passes": sum(bool(one["inputs"]) for one in found.values()),
        "with_float16_products": sum(one["float16_sums"] is not None for one in found.values()),
        "float16_sums_pass": sum(one["float16_sums"] is True for one in found.values()),
    }
    document = {
        "script": "measurements/precision/precision_gaps.py",
        "environment": environment(),
        "summary": summary,
        "gaps": kept,
    }
    options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
