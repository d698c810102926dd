"""Evaluates the expressions of a manifest, which are arithmetic over sizes. No code is executed.

    evaluate("ceil_div(x.shape[0], 256)", {"x": tensor_facts})  # an int, a float or a bool

The syntax is a small part of Python's, and the evaluator walks the syntax tree. The text is
untrusted. Its length, its depth and every intermediate integer are limited, so every evaluation
takes only microseconds. All functions are pure.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

MAX_CHARS = 400
MAX_DEPTH = 40
MAX_SHIFT = 62
MAX_INTEGER = 2**63 - 1

Number = int | float | bool
_TENSOR_FACTS = ("shape", "strides", "ndim", "numel", "itemsize", "nbytes")


class ExpressionError(Exception):
    """An error in an expression. `kind` is the supervisor's ErrorKind."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class TensorFacts:
    """The properties of a tensor that an expression can use."""

    dtype: str
    itemsize: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel * self.itemsize


Value = Number | TensorFacts | tuple[int, ...]


def _ceil_div(a: Number, b: Number) -> Number:
    return -(-a // b)


def _next_power_of_2(n: Number) -> int:
    return 1 << (_whole(n, "next_power_of_2") - 1).bit_length() if n > 1 else 1


def _log2_ceil(n: Number) -> int:
    return (_whole(n, "log2_ceil") - 1).bit_length() if n > 1 else 0


# Maps a function's name to the function and to its minimum and maximum number of arguments.
FUNCTIONS: dict[str, tuple[Callable[..., Number], int, int]] = {
    "ceil_div": (_ceil_div, 2, 2),
    "next_power_of_2": (_next_power_of_2, 1, 1),
    "log2_ceil": (_log2_ceil, 1, 1),
    "min": (min, 2, 16),
    "max": (max, 2, 16),
    "abs": (abs, 1, 1),
    "sqrt": (math.sqrt, 1, 1),
}
_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_BITS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SYNTAX = (
    "numbers, names, x.shape[i], + - * / // % ** << >> & | ^, comparisons, and, or, not, `a if c else b`, and "
    + ", ".join(f"{name}()" for name in FUNCTIONS)
)


def evaluate(text: str, names: Mapping[str, Value]) -> Number:
    """Returns the value of an expression. Raises ExpressionError."""
    value = _Walk(names).value(parse(text), 0)
    return _number(value, "the expression")


def parse(text: str) -> ast.expr:
    """Returns the syntax tree of an expression. Checks only that the text is a valid Python
    expression. Raises ExpressionError."""
    if len(text) > MAX_CHARS:
        raise ExpressionError(
            "value_error",
            f"an expression of {len(text)} characters is over the limit of {MAX_CHARS}",
        )
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply"
        raise ExpressionError(
            "syntax_error", f"{_shown(text)} is not an expression ({why}); valid: {_SYNTAX}"
        ) from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")


def _number(value: Value, what: str) -> Number:
    if isinstance(value, TensorFacts):
        raise ExpressionError(
            "type_error",
            f"{what} is a tensor where a number is needed; a tensor has {', '.join(_TENSOR_FACTS)}",
        )
    if isinstance(value, tuple):
        raise ExpressionError(
            "type_error",
            f"{what} is a whole shape where a number is needed; take one extent, as in x.shape[0]",
        )
    return value


def _whole(value: Number, what: str) -> int:
    if isinstance(value, float):
        raise ExpressionError(
            "type_error", f"{what} wants integers, not {value}; // divides integers"
        )
    return int(value)


def _bounded(value: Number) -> Number:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ExpressionError("value_error", f"a result is {value}")
    elif abs(value) > MAX_INTEGER:
        raise ExpressionError("value_error", "a result needs more than 64 bits")
    return value


class _Walk:
    def __init__(self, names: Mapping[str, Value]) -> None:
        self._names = names

    def number(self, node: ast.expr, depth: int) -> Number:
        value = self.value(node, depth)
        return value if isinstance(value, int | float) else _number(value, ast.unparse(node)[:80])

    def value(self, node: ast.expr, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise ExpressionError(
                "value_error", f"an expression is nested more than {MAX_DEPTH} deep"
            )
        depth += 1
        match node:
            case ast.Constant(value=bool() | int() | float() as constant):
                return _bounded(constant)
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute(value=ast.Name(id=name), attr=fact):
                return self._fact(name, fact)
            case ast.Subscript(value=ast.Attribute() as base, slice=index):
                return self._extent(base, self.value(base, depth), self.number(index, depth))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.number(operand, depth)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return _bounded(-self.number(operand, depth))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.number(operand, depth)
            case ast.BoolOp(op=op, values=values):
                both = all if isinstance(op, ast.And) else any
                return both(bool(self.number(one, depth)) for one in values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.number(body if self.number(test, depth) else orelse, depth)
            case ast.Compare(left=left, ops=ops, comparators=others) if all(
                type(op) in _COMPARE for op in ops
            ):
                compared = [self.number(one, depth) for one in (left, *others)]
                return all(
                    _COMPARE[type(op)](a, b)
                    for op, a, b in zip(ops, compared, compared[1:], strict=False)
                )
            case ast.BinOp(left=left, op=op, right=right):
                return _bounded(
                    self._binary(op, self.number(left, depth), self.number(right, depth))
                )
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return _bounded(self._call(name, [self.number(one, depth) for one in args]))
        raise ExpressionError(
            "syntax_error", f"{type(node).__name__} cannot stand in an expression; valid: {_SYNTAX}"
        )

    def _name(self, name: str) -> Value:
        if name not in self._names:
            raise ExpressionError(
                "name_error",
                f"unknown name {_shown(name)}; valid: {', '.join(sorted(self._names))}",
            )
        return self._names[name]

    def _fact(self, name: str, fact: str) -> Value:
        tensor = self._name(name)
        if not isinstance(tensor, TensorFacts):
            raise ExpressionError("type_error", f"{name} is a number and has no .{fact}")
        if fact not in _TENSOR_FACTS:
            raise ExpressionError(
                "attribute_error", f"{name} has no .{fact}; valid: {', '.join(_TENSOR_FACTS)}"
            )
        found: int | tuple[int, ...] = getattr(tensor, fact)
        return found

    @staticmethod
    def _extent(node: ast.Attribute, extents: Value, index: Number) -> int:
        if not isinstance(extents, tuple):
            raise ExpressionError(
                "type_error", f"{ast.unparse(node)} is a number and has no [{index}]"
            )
        at = _whole(index, "an index")
        if not -len(extents) <= at < len(extents):
            raise ExpressionError(
                "index_error", f"{ast.unparse(node)} has {len(extents)} entries; there is no [{at}]"
            )
        return extents[at]

    @staticmethod
    def _binary(op: ast.operator, a: Number, b: Number) -> Number:
        if isinstance(op, ast.Div | ast.FloorDiv | ast.Mod) and b == 0:
            raise ExpressionError("zero_division", f"{a} is divided by zero")
        try:
            if type(op) in _BINARY:
                return _BINARY[type(op)](a, b)
            if isinstance(op, ast.Pow):
                return _power(a, b)
        except OverflowError:
            raise ExpressionError("value_error", "a result is too large") from None
        if type(op) in _BITS:
            left, right = _whole(a, "a bit operation"), _whole(b, "a bit operation")
            if isinstance(op, ast.LShift | ast.RShift) and not 0 <= right <= MAX_SHIFT:
                raise ExpressionError(
                    "value_error", f"a shift by {right} is not from 0 to {MAX_SHIFT}"
                )
            return _BITS[type(op)](left, right)
        raise ExpressionError(
            "syntax_error",
            f"operator {type(op).__name__} cannot stand in an expression; valid: {_SYNTAX}",
        )

    @staticmethod
    def _call(name: str, args: list[Number]) -> Number:
        if name not in FUNCTIONS:
            raise ExpressionError(
                "name_error", f"unknown function {_shown(name)}; valid: {', '.join(FUNCTIONS)}"
            )
        function, least, most = FUNCTIONS[name]
        if not least <= len(args) <= most:
            raise ExpressionError(
                "type_error",
                f"{name}() takes {least if least == most else f'{least} to {most}'} arguments, not {len(args)}",
            )
        if name == "ceil_div" and args[1] == 0:
            raise ExpressionError("zero_division", f"ceil_div({args[0]}, 0)")
        if name == "sqrt" and args[0] < 0:
            raise ExpressionError("value_error", f"sqrt({args[0]})")
        try:
            return function(*args)
        except OverflowError:
            raise ExpressionError("value_error", f"the result of {name}() is too large") from None


def _power(a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        if a < 0 or (a == 0 and b < 0):
            raise ExpressionError("value_error", f"{a} ** {b}")
        return float(a) ** float(b)
    if b < 0:
        raise ExpressionError("value_error", f"{a} ** {b}: the exponent of integers is from 0 up")
    if abs(a) > 1 and (abs(int(a)).bit_length() - 1) * b > MAX_SHIFT:
        raise ExpressionError("value_error", f"{a} ** {b} needs more than 64 bits")
    power: int = int(a) ** (int(b) if abs(a) > 1 else min(int(b), 2 + int(b) % 2))
    return power
