"""Parses the tables of a spec.toml: arguments, outputs, and extents such as "2*rows*cols". The
message of an OperatorError names what is wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from harness.wire.tensors import DTYPES

SCALARS: dict[str, type] = {"int": int, "float": float, "bool": bool}
_ROLES = ("input", "inout", "structural")


class Baseline(Enum):
    """With what Perf compares a submission (base/baseline.h). Only an operator whose baseline is
    the oracle has an oracle.py."""

    ORACLE = "oracle"
    TORCH_EAGER = "torch_eager"


class Loss(Enum):
    """A loss of precision that the small cases of an operator must reject (judging/precision.py)."""

    ROUNDED_INPUT = "rounded_input"  # one input, or all inputs, are rounded to bfloat16
    FLOAT16_SUMS = "float16_sums"  # the products of float16 matrices are accumulated in float16


class OperatorError(Exception):
    """An error in the operator's own files. The submission never causes it."""


class NothingToJudge(OperatorError):
    """No answer to a case of an imported operator can be wrong, because the reference leaves each
    element of its outputs to chance, or as it was."""


class NeedsGpu(OperatorError):
    """The operator may be correct, but its inputs or its reference outputs need a GPU."""


@dataclass(frozen=True)
class Argument:
    name: str
    type: str
    dtype: str
    shape: tuple[str | int, ...]
    role: str


@dataclass(frozen=True)
class Adversary:
    """A distribution of inputs with which kernels that take certain shortcuts give a wrong answer
    (judging/shortcuts.py)."""

    distribution: str
    breaks: tuple[str, ...]  # the names of the shortcuts
    axis: str  # the axis along which a shortcut leaves work out; may be ""


@dataclass(frozen=True)
class Indistinguishable:
    """A loss of precision that no case of the operator can show. The spec explains why."""

    loss: Loss
    argument: str  # the rounded input, or "" for all inputs and for sums


@dataclass(frozen=True)
class Output:
    name: str
    dtype: str
    shape: tuple[str | int, ...]
    max_abs_error: float
    scale: str | int | float
    # If true, `max_abs_error` is a share of an element's magnitude, or of the root mean square of the
    # right output if that is larger.
    relative: bool
    source: str  # the inout argument that becomes this output, or "" for a returned output
    or_relative: bool = False  # max_abs_error is also a limit of the relative error


def baseline_of(spec: dict[str, Any], where: Path) -> Baseline:
    name = spec.get("baseline", Baseline.ORACLE.value)
    try:
        return Baseline(name)
    except ValueError:
        valid = ", ".join(baseline.value for baseline in Baseline)
        raise OperatorError(f"{where}: key 'baseline' is {name!r}; valid: {valid}") from None


def extent(expression: str | int | float, axes: dict[str, int]) -> float:
    """Returns the value of an extent such as "rows", 128 or "2*rows*cols"."""
    if not isinstance(expression, str):
        return expression
    factors = []
    for part in expression.split("*"):
        name = part.strip()
        if name in axes:
            factors.append(float(axes[name]))
            continue
        try:
            factors.append(float(name))
        except ValueError:
            raise OperatorError(
                f"{expression!r}: {name!r} is neither a number nor one of the axes {', '.join(axes)}"
            ) from None
    value = float(math.prod(factors))
    return int(value) if value.is_integer() else value


def shape_of(extents: tuple[str | int, ...], axes: dict[str, int]) -> list[int]:
    return [int(extent(value, axes)) for value in extents]


def tables(spec: dict[str, Any], key: str, where: Path) -> list[dict[str, Any]]:
    found = spec.get(key)
    if (
        not isinstance(found, list)
        or not found
        or not all(isinstance(table, dict) for table in found)
    ):
        raise OperatorError(f"{where}: needs at least one [[{key}]]")
    return found


def argument_of(table: dict[str, Any], where: Path) -> Argument:
    name, kind = table.get("name"), table.get("type")
    if not isinstance(name, str) or kind not in ("tensor", *SCALARS):
        raise OperatorError(
            f"{where}: argument {name!r} has type {kind!r}; want tensor, int, float or bool"
        )
    dtype, role = str(table.get("dtype", "")), str(table.get("role", "input"))
    if kind == "tensor" and dtype != "case" and dtype not in DTYPES:
        raise OperatorError(
            f"{where}: argument {name} has dtype {dtype!r}; want case or one of {', '.join(DTYPES)}"
        )
    if role not in _ROLES:
        raise OperatorError(
            f"{where}: argument {name} has role {role!r}; want one of {', '.join(_ROLES)}"
        )
    return Argument(name, str(kind), dtype, tuple(table.get("shape", ())), role)


def output_of(table: dict[str, Any], where: Path) -> Output:
    name, dtype = table.get("name"), table.get("dtype")
    if not isinstance(name, str) or (dtype != "case" and dtype not in DTYPES):
        raise OperatorError(
            f"{where}: output {name!r} has dtype {dtype!r}; want case or one of {', '.join(DTYPES)}"
        )
    limit = float(table.get("max_abs_error", 0.01))
    if not 0 <= limit < math.inf:
        raise OperatorError(f"{where}: max_abs_error of {name} is {limit}; want 0 or more, finite")
    return Output(
        name,
        str(dtype),
        tuple(table.get("shape", ())),
        limit,
        table.get("scale", 1),
        table.get("relative") is True,
        str(table.get("from", "")),
        table.get("or_relative") is True,
    )


def adversary_of(table: dict[str, Any]) -> Adversary:
    return Adversary(
        str(table.get("distribution", "")),
        tuple(str(name) for name in table.get("breaks", ())),
        str(table.get("axis", "")),
    )


def indistinguishable_of(table: dict[str, Any], where: Path) -> Indistinguishable:
    name = table.get("loss")
    try:
        loss = Loss(name)
    except ValueError:
        valid = ", ".join(one.value for one in Loss)
        raise OperatorError(
            f"{where}: [[indistinguishable]] has loss {name!r}; valid: {valid}"
        ) from None
    return Indistinguishable(loss, str(table.get("argument", "")))
