"""Checks that an operator's timed cases reveal shortcuts. If a graded run times a public case, it
must also time a hidden case of the same shape. With the inputs of the hidden case, a shortcut gives
a wrong answer. A graded run must also time a hidden case of another shape, so that a submission
cannot be fast for the public shapes alone.

    yield from timed_twins(operator, cases[0], seed)
    yield from rejects_shortcuts(operator, case, arguments, rules, expected)

The spec's tables `[[adversarial]]` declare the distributions of such inputs. Each table names the
shortcuts that its distribution makes wrong. A shortcut is a way to leave work out
(shortcuts.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from harness.judging.check import Check, line_of
from harness.judging.compare import Rule, is_wrong
from harness.judging.shortcuts import SHORTCUTS, shortcut
from harness.operator import Arguments, Case, Operator

# A graded run times a case only if the case has at least this share of the largest number of bytes,
# or of the largest number of operations, of any case. The number equals kLeastCostShare of
# sandbox/job/verdict_builder.h.
LEAST_COST_SHARE = 0.125
# In these families, a kernel can leave out work and still give right answers for the usual inputs.
SHORTCUT_FAMILIES = ("attention", "scan", "softmax")


def timed_twins(operator: Operator, small: Case, seed: int) -> Iterator[Check]:
    """Yields a check for each public timed case. There must be a hidden case with the same dtype,
    the same axes, equal scalar arguments and an adversarial distribution. Also yields a check that
    a hidden timed case has axes that no public timed case has. If the operator's family is one of
    SHORTCUT_FAMILIES, also yields a check that the operator declares a shortcut. `small` is a case
    whose inputs are created quickly."""
    spec = operator.folder / "spec.toml"
    tables = {str(table["id"]): table for table in operator.spec.get("cases", [])}
    cases = {name: operator.case(table, str(small.device)) for name, table in tables.items()}
    adversaries = {one.distribution: one for one in operator.adversaries}
    name = "timed cases have an adversarial twin"
    timed = _timed(operator, list(cases.values())) if cases else []
    if timed:
        yield _other_shape(operator, timed, tables)
    for case in timed:
        if tables[case.id]["visibility"] != "public":
            continue
        twins = [
            other
            for other in cases.values()
            if tables[other.id]["visibility"] == "hidden"
            and other.distribution in adversaries
            and (other.dtype, operator.named_axes(other)) == (case.dtype, operator.named_axes(case))
        ]
        if not twins:
            yield Check(
                case.id,
                name,
                False,
                f"{_at(operator, case)}: a submission may use that the inputs of this timed case are "
                "benign: add a hidden case with its dtype and axes and a distribution of [[adversarial]]"
                + (f" ({', '.join(adversaries)})" if adversaries else ""),
            )
            continue
        shown = _scalars(operator, replace(small, distribution=case.distribution), seed)
        alike = [
            twin
            for twin in twins
            if _scalars(operator, replace(small, distribution=twin.distribution), seed) == shown
        ]
        yield Check(
            case.id,
            name,
            bool(alike),
            ""
            if alike
            else f"{_at(operator, twins[0])}: scalar arguments differ from those of {case.id}, so a "
            "submission can tell the two cases apart: make them equal in inputs()",
        )
    if operator.spec.get("family") in SHORTCUT_FAMILIES:
        used = {table["distribution"] for table in tables.values()}
        met = any(
            set(one.breaks) & set(SHORTCUTS) and one.distribution in used
            for one in operator.adversaries
        )
        yield Check(
            None,
            "a shortcut is declared",
            met,
            ""
            if met
            else f"{spec}: family {operator.spec['family']!r} needs an [[adversarial]] distribution that breaks one of "
            + ", ".join(SHORTCUTS),
        )


def _other_shape(operator: Operator, timed: list[Case], tables: dict[str, Any]) -> Check:
    """Returns the check that a hidden timed case has axes that no public timed case has."""
    hidden = [one for one in timed if tables[one.id]["visibility"] == "hidden"]
    known = [operator.named_axes(one) for one in timed if one not in hidden]
    met = any(operator.named_axes(one) not in known for one in hidden)
    place = line_of(operator.folder / "spec.toml", "[[cases]]")
    return Check(
        None,
        "a timed hidden case has another shape",
        met,
        ""
        if met
        else f"{place}: a submission may be fast for the public shapes alone: add a hidden case with other axes, "
        f"and with at least {LEAST_COST_SHARE} of the bytes or of the flops of the largest case, or enlarge one",
    )


def shortcuts_met(operator: Operator, cases: list[Case]) -> Iterator[Check]:
    """Yields a check for each adversarial distribution that makes a shortcut wrong. One of the
    linted cases must have this distribution."""
    linted = {case.distribution for case in cases}
    for one in operator.adversaries:
        if set(one.breaks) & set(SHORTCUTS):
            met = one.distribution in linted
            place = line_of(operator.folder / "spec.toml", "[[adversarial]]")
            yield Check(
                None,
                f"{one.distribution} is in a small case",
                met,
                ""
                if met
                else f"{place}: add a hidden case with distribution {one.distribution!r} that is small enough for a CPU",
            )


def rejects_shortcuts(
    operator: Operator,
    case: Case,
    arguments: Arguments,
    rules: list[Rule],
    expected: list[torch.Tensor],
) -> Iterator[Check]:
    """Yields a check for each shortcut that the case's distribution makes wrong according to the
    spec. The comparison must reject the outputs of that shortcut."""
    for one in operator.adversaries:
        if one.distribution != case.distribution:
            continue
        for name in one.breaks:
            if name not in SHORTCUTS:
                continue
            made = shortcut(operator, case, arguments, one, name)
            outputs = [value.to(right.dtype) for value, right in zip(made, expected, strict=True)]
            ok = is_wrong(rules, expected, outputs)
            remedy = f"{_at(operator, case)}: the shortcut passes: make distribution {case.distribution!r} stronger"
            yield Check(case.id, f"rejects shortcut {name}", ok, "" if ok else remedy, mutant=True)


def _at(operator: Operator, case: Case) -> str:
    return line_of(operator.folder / "spec.toml", f'id = "{case.id}"')


def _timed(operator: Operator, cases: list[Case]) -> list[Case]:
    costs = [operator.cost(case) for case in cases]
    most_bytes, most_flops = max(cost.bytes for cost in costs), max(cost.flops for cost in costs)
    return [
        case
        for case, cost in zip(cases, costs, strict=True)
        if (most_bytes > 0 and cost.bytes >= LEAST_COST_SHARE * most_bytes)
        or (most_flops > 0 and cost.flops >= LEAST_COST_SHARE * most_flops)
    ]


def _scalars(operator: Operator, case: Case, seed: int) -> list[object]:
    if all(one.type == "tensor" for one in operator.arguments):
        return []
    arguments = operator.inputs(case, seed)
    return [arguments[one.name] for one in operator.arguments if one.type != "tensor"]
