"""Reads the problems of SOL-ExecBench: folders with definition.json and workload.jsonl. Its format
is that of FlashInfer Trace with a few changes, so a problem becomes a definition of that format. No
code of the dataset is executed.

    dataset = read_problems(Path("SOL-ExecBench/data/benchmark"), only=[])
    for one in dataset.files:
        one.definition.inputs, one.workloads, one.problem

- A problem has its workloads in a file of its own, a line each.
- An axis may be an expression of other axes. It becomes a variable axis with a constraint.
- A function of the reference's code may make inputs (`custom_inputs_entrypoint`).
- Each workload may have its own tolerance. An operator has one: the smallest."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkout import NO_INPUT, BadFolder
from sol_values import values_of
from trace_constraints import BadConstraint, parse, solve
from trace_dataset import (
    MAX_FILE_BYTES,
    add_workload,
    check_tensors,
    definition_from,
    leave_out,
    workload_from,
)
from trace_types import BadEntry, Dataset, Definition, DefinitionFile, Rule, Tensor, Workload

FOLDER = "data/benchmark of NVIDIA/SOL-ExecBench, or a folder with problems (definition.json)"
DEFINITION, WORKLOADS = "definition.json", "workload.jsonl"
MAX_PROBLEMS = 4096
SHOWN_NAMES = 8
DEFAULT_TOLERANCE = 0.01  # absolute and relative
DEFAULT_SHARE = 0.99  # of elements that must be right
UNKNOWN_TYPE = "unknown"  # the op_type of a problem without one
RANDOM_TYPES = ("sampling",)  # the benchmark compares distributions


def read_problems(folder: Path, only: list[str]) -> Dataset:
    """`only` contains names of problems; empty means all."""
    if not folder.is_dir():
        raise BadFolder(NO_INPUT, f"{folder} is not a folder; it is {FOLDER}")
    paths = sorted(folder.rglob(DEFINITION))
    if not paths:
        help_text = "scripts/download_data.sh of the benchmark downloads its problems"
        raise BadFolder(NO_INPUT, f"{folder} has no {DEFINITION}; it is {FOLDER}; {help_text}")
    if len(paths) > MAX_PROBLEMS:
        raise BadFolder(
            NO_INPUT, f"{folder} has {len(paths)} problems; the limit is {MAX_PROBLEMS}"
        )
    files = [_read_problem(folder, path.parent) for path in paths]
    if only:
        known = {one.label for one in files} | {one.name for one in files}
        if unknown := sorted(set(only) - known):
            names = ", ".join(sorted(one.name for one in files)[:SHOWN_NAMES])
            raise BadFolder(
                NO_INPUT, f"{folder} has no problem {', '.join(unknown)}; it has {names}"
            )
        files = [one for one in files if one.name in only or one.label in only]
    return Dataset(folder, files)


def _read_problem(folder: Path, place: Path) -> DefinitionFile:
    one = DefinitionFile(place.relative_to(folder).as_posix(), label=place.name)
    try:
        definition = problem_from(json.loads(_read_text(place / DEFINITION)))
        one.label = definition.name
        _read_workloads(one, definition, place / WORKLOADS)
        if not one.workloads:
            kept = "; ".join(one.left_out[:SHOWN_NAMES])
            raise BadEntry("no_workload", kept or f"{WORKLOADS} has no line")
        tolerances = [_tolerance(workload.document) for workload in one.workloads]
        one.definition = dataclasses.replace(definition, rule=rule_of(tolerances))
    except BadEntry as error:
        one.kind, one.problem = error.kind, str(error)
    # Whatever a problem contains, the other problems are imported.
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        one.kind, one.problem = "unreadable", f"it cannot be read: {error}"
    return one


def _read_text(path: Path) -> str:
    if not path.is_file() or path.is_symlink():
        raise BadEntry("unreadable", f"{path.name} is not a regular file")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise BadEntry("unreadable", f"{path.name} has more than {MAX_FILE_BYTES >> 20} MiB")
    return path.read_text(encoding="utf-8")


def problem_from(document: Any) -> Definition:
    """Returns the problem as a definition of FlashInfer Trace."""
    if not isinstance(document, dict):
        raise BadEntry("bad_definition", "a definition is a JSON object")
    axes, expressions = dict(_table(document, "axes")), {}
    for tensors in (_table(document, "inputs"), _table(document, "outputs")):
        for extent in _numbers_as_axes(tensors):
            axes[extent] = {"type": "const", "value": int(extent)}
    for name, table in axes.items():
        if isinstance(table, dict) and table.get("type") == "expr":
            expressions[name] = _expression(name, table)
            axes[name] = {"type": "var"}
    equations = [f"{name} == ({text})" for name, text in expressions.items()]
    for name in expressions:
        if not name.isidentifier():
            raise BadEntry("bad_definition", f"the axis {name!r} is no identifier")
    constraints = document.get("constraints") or []
    if not isinstance(constraints, list):
        raise BadEntry("bad_definition", "`constraints` is a list of expressions")
    definition = definition_from(
        {
            **document,
            "op_type": document.get("op_type") or UNKNOWN_TYPE,
            "axes": axes,
            "constraints": [*equations, *constraints],
        }
    )
    if definition.op_type in RANDOM_TYPES:
        why = "the outputs are random, and the benchmark compares distributions"
        raise BadEntry("own_evaluator", f"{why}; Assay compares each element")
    check_tensors(definition)
    return dataclasses.replace(
        definition,
        inputs=tuple(_with_values(one) for one in definition.inputs),
        expressions=expressions,
        custom_inputs=_custom_inputs(document, definition),
    )


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key)
    if not isinstance(value, dict):
        raise BadEntry("bad_definition", f"`{key}` is an object of named entries")
    return value


def _numbers_as_axes(tensors: dict[str, Any]) -> Iterator[str]:
    """Yields the entries of shapes that are numbers in place of names of axes."""
    for table in tensors.values():
        shape = table.get("shape") if isinstance(table, dict) else None
        if isinstance(shape, list):
            yield from (one for one in shape if isinstance(one, str) and one.isdecimal())


def _expression(name: str, table: dict[str, Any]) -> str:
    text = table.get("expression")
    if not isinstance(text, str) or not text.strip():
        raise BadEntry("bad_definition", f"axis {name} needs the text `expression`")
    try:
        parse(text)  # alone: between parentheses, other texts would be expressions too
    except BadConstraint as error:
        raise BadEntry("bad_constraint", str(error)) from error
    return text


def _custom_inputs(document: dict[str, Any], definition: Definition) -> str:
    name = document.get("custom_inputs_entrypoint")
    if name is None:
        return ""
    if not isinstance(name, str) or not name.isidentifier():
        raise BadEntry("bad_definition", "`custom_inputs_entrypoint` is no name of a function")
    if name not in definition.functions():
        raise BadEntry("bad_definition", f"the reference defines no function `{name}`")
    return name


def _with_values(one: Tensor) -> Tensor:
    if one.shape is None:
        return one
    return dataclasses.replace(one, values=values_of(one.name, one.description, one.shape))


def _read_workloads(one: DefinitionFile, definition: Definition, path: Path) -> None:
    if not path.is_file():
        raise BadEntry("no_workload", f"it has no {WORKLOADS}")
    uuids: set[str] = set()
    for number, line in enumerate(_read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            add_workload(one, _workload(definition, json.loads(line)), uuids)
        except (BadEntry, ValueError, RecursionError) as error:
            leave_out(one, f"{WORKLOADS}:{number}: {error}")


def _workload(definition: Definition, document: Any) -> Workload:
    if not isinstance(document, dict):
        raise BadEntry("bad_workload", "it is no JSON object")
    given = document.get("axes")
    if not isinstance(given, dict) or not all(type(one) is int for one in given.values()):
        raise BadEntry("bad_workload", "`axes` is an object of integers")
    if both := sorted(set(given) & set(definition.expressions)):
        raise BadEntry("bad_workload", f"the axis {both[0]} is an expression, so it has no value")
    fixed = {name: value for name, value in definition.axes.items() if value is not None}
    # An axis that cannot be computed stays 0, which workload_from() refuses.
    unknown = dict.fromkeys(definition.expressions, 0)
    equations = [parse(text) for text in definition.constraints]
    axes = solve(equations, {**fixed, **unknown, **given})
    variable = {name: axes[name] for name in [*given, *definition.expressions]}
    _tolerance(document)
    return workload_from({"workload": {**document, "axes": variable}}, definition)


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """The benchmark accepts an element within `absolute` + `relative` x |right value|."""

    absolute: float
    relative: float
    share: float  # of the elements that must be accepted


def _tolerance(document: dict[str, Any]) -> Tolerance:
    table = document.get("tolerance") or {}
    if not isinstance(table, dict):
        raise BadEntry("bad_workload", "`tolerance` is an object")
    found = [
        table.get("max_atol", DEFAULT_TOLERANCE),
        table.get("max_rtol", DEFAULT_TOLERANCE),
        table.get("required_matched_ratio", DEFAULT_SHARE),
    ]
    if not all(type(one) in (int, float) and 0 <= one < float("inf") for one in found):
        raise BadEntry(
            "bad_workload",
            "`tolerance` has max_atol, max_rtol and required_matched_ratio: numbers from 0",
        )
    return Tolerance(*map(float, found))


def rule_of(tolerances: list[Tolerance]) -> Rule:
    """Returns a rule that accepts nothing that the benchmark refuses in any of its workloads: for
    every element, instead of for a share of them, and the larger instead of the sum of both bounds."""
    absolute = min(one.absolute for one in tolerances)
    relative = min(one.relative for one in tolerances)
    share = max(one.share for one in tolerances)
    text = (
        f"an element may be off by {absolute:g} + {relative:g} x |right value|, and "
        f"{100 * share:g} % of the elements must be so"
    )
    return Rule(min(absolute, relative), text)
