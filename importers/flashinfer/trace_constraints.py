"""Evaluates the constraints of a definition, such as "H_qo == H_kv * H_r". A constraint is text from
a dataset, so it is never executed: only comparisons and integer arithmetic of axes are evaluated.

    constraint = parse("H_qo == H_kv * H_r")  # raises BadConstraint
    holds(constraint, {"H_qo": 8, "H_kv": 2, "H_r": 4})  # True; None if it is about other names
    solve([constraint], {"H_kv": 2, "H_r": 4, "H_qo": 1})  # {"H_kv": 2, "H_r": 4, "H_qo": 8}

Pure functions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

MAX_CHARS = 1000
MAX_POWER_BITS = 256  # of the result of `**`; a larger one is not evaluated


class _Unknown(Exception):
    """The expression has a part that is not evaluated here, such as the value of an input."""


def _power(base: Any, exponent: Any) -> Any:
    if not isinstance(base, int) or not isinstance(exponent, int) or exponent < 0:
        raise _Unknown
    if base.bit_length() * exponent > MAX_POWER_BITS:
        raise _Unknown
    return base**exponent


_NUMBERS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Pow: _power,
    ast.Mod: operator.mod,
}
_COMPARISONS: dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class BadConstraint(Exception):
    """The text is no expression of Python."""


def parse(text: str) -> ast.expr:
    try:
        if len(text) > MAX_CHARS:
            raise ValueError(f"more than {MAX_CHARS} characters")
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        shown = text[:80]
        raise BadConstraint(
            f"the constraint {shown!r} is no expression of Python: {error}"
        ) from None


def holds(constraint: ast.expr, axes: dict[str, int]) -> bool | None:
    """Returns None if the constraint is not about axes only. Such a constraint needs the inputs."""
    try:
        return bool(_value(constraint, axes))
    except (_Unknown, RecursionError):
        return None
    except ArithmeticError:
        return False


def solve(constraints: Sequence[ast.expr], axes: dict[str, int]) -> dict[str, int]:
    """Returns the axes after each constraint `axis == expression` has set its axis. The result may
    break constraints; holds() tells."""
    solved = dict(axes)
    for one in constraints:
        if not isinstance(one, ast.Compare) or not isinstance(one.ops[0], ast.Eq):
            continue
        if len(one.ops) != 1 or not isinstance(one.left, ast.Name) or one.left.id not in axes:
            continue
        try:
            value = _value(one.comparators[0], solved)
            if value == int(value):  # a division may leave a fraction
                solved[one.left.id] = int(value)
        except (_Unknown, ArithmeticError, RecursionError):
            continue
    return solved


def names_in(constraint: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(constraint) if isinstance(node, ast.Name)}


def _value(node: ast.expr, axes: dict[str, int]) -> Any:
    match node:
        case ast.Constant(value=bool() | int() as value):
            return value
        case ast.Name(id=name) if name in axes:
            return axes[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _NUMBERS:
            return _NUMBERS[type(op)](_value(left, axes), _value(right, axes))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, axes)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, axes)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, axes)
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_value(one, axes) for one in values)
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(_value(one, axes) for one in values)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return _compared(left, ops, comparators, axes)
    raise _Unknown


def _compared(
    left: ast.expr, ops: list[ast.cmpop], others: list[ast.expr], axes: dict[str, int]
) -> bool:
    first = _value(left, axes)
    for op, other in zip(ops, others, strict=True):
        if type(op) not in _COMPARISONS:
            raise _Unknown
        second = _value(other, axes)
        if not _COMPARISONS[type(op)](first, second):
            return False
        first = second
    return True
