"""Reads the values of a manifest's keys: expressions, flags, options and arguments. Each function
checks the form of a value. If the form is wrong, a ManifestError names the place, the line and the
valid values."""

from __future__ import annotations

import re
from typing import Any

from harness.cuda_cpp.expressions import ExpressionError, parse
from harness.cuda_cpp.manifest import (
    MAX_TENSOR_MAP_RANK,
    SCALAR_DTYPES,
    SWIZZLES,
    Argument,
    Expression,
    TensorMapArgument,
)
from harness.entry.errors import ManifestError

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

_OPTIONS = (
    r"--use_fast_math",
    r"--extra-device-vectorization",
    r"--restrict",
    r"--device-int128",
    r"--fmad=(?:true|false)",
    r"--ftz=(?:true|false)",
    r"--prec-div=(?:true|false)",
    r"--prec-sqrt=(?:true|false)",
    r"--std=c\+\+(?:14|17|20)",
    r"--maxrregcount=[1-9][0-9]{0,2}",
)
OPTIONS = (
    "--use_fast_math, --extra-device-vectorization, --restrict, --device-int128, --fmad=, --ftz=, --prec-div= or --prec-sqrt= with true or "
    "false, --std=c++14, c++17 or c++20, --maxrregcount=N"
)


def check_keys(where: str, table: dict[str, Any], keys: tuple[str, ...], line: int) -> None:
    """Raises ManifestError if the table has a key that is not in `keys`."""
    for key in table:
        if key not in keys:
            raise ManifestError(
                "value_error",
                f"{where} has an unknown key {key[:80]!r}; valid: {', '.join(keys)}",
                line,
            )


def flag(table: dict[str, Any], key: str, where: str, line: int) -> bool:
    """Returns the value of a key that must be true or false. Returns false if the key is
    missing."""
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise ManifestError(
            "type_error", f"{where}: {key} is {kind_of(value)}; want true or false", line
        )
    return value


def expressions(value: Any, where: str, line: int, most: int) -> list[Expression]:
    """Reads a list of 1 to `most` expressions. A single expression counts as a list."""
    values = value if isinstance(value, list) else [value]
    if not 1 <= len(values) <= most:
        raise ManifestError(
            "value_error", f"{where} has {len(values)} entries; want 1 to {most}", line
        )
    return [expression(one, where, line) for one in values]


def expression(value: Any, where: str, line: int) -> Expression:
    """Reads a number or an expression."""
    if isinstance(value, bool | int | float):
        return Expression(str(value), where, line)
    if not isinstance(value, str):
        raise ManifestError(
            "type_error",
            f"{where} is {kind_of(value)}; want a number or an expression in quotes",
            line,
        )
    try:
        parse(value)
    except ExpressionError as error:
        raise ManifestError(error.kind, f"{where}: {error}", line) from None
    return Expression(value.strip(), where, line)


def options(given: Any, line: int) -> list[str]:
    """Returns the compiler options, without duplicates."""
    if not isinstance(given, list):
        raise ManifestError(
            "type_error", f"options is {kind_of(given)}; want a list of strings", line
        )
    for option in given:
        if not isinstance(option, str) or not any(
            re.fullmatch(known, option) for known in _OPTIONS
        ):
            raise ManifestError(
                "value_error", f"option {shown(option)} is not allowed; valid: {OPTIONS}", line
            )
    return list(dict.fromkeys(given))


def argument(value: Any, where: str, line: int) -> Argument:
    """Reads an argument of a kernel: an expression, "expression : dtype", or a tensor map."""
    if isinstance(value, dict):
        return _tensor_map(value, where, line)
    text, _, dtype = value.partition(":") if isinstance(value, str) else (value, "", "")
    dtype = dtype.strip()
    if dtype and dtype not in SCALAR_DTYPES:
        raise ManifestError(
            "value_error",
            f"{where}: type {shown(dtype)} is none of {', '.join(SCALAR_DTYPES)}",
            line,
        )
    return Argument(expression(text, where, line), dtype)


def _tensor_map(table: dict[str, Any], where: str, line: int) -> Argument:
    check_keys(where, table, ("tensor_map", "box", "shape", "swizzle", "nan_outside"), line)
    name = table.get("tensor_map")
    if not isinstance(name, str) or not NAME.match(name):
        raise ManifestError(
            "value_error",
            f"{where}: tensor_map is {shown(name)}; want the name of a tensor",
            line,
        )
    swizzle = table.get("swizzle", "none")
    if swizzle not in SWIZZLES:
        raise ManifestError(
            "value_error",
            f"{where}: swizzle {shown(swizzle)} is none of {', '.join(SWIZZLES)}",
            line,
        )
    if "box" not in table:
        raise ManifestError("value_error", f"{where}: a tensor_map has a box, as in [64, 64]", line)
    shape = (
        expressions(table["shape"], f"{where}: shape", line, MAX_TENSOR_MAP_RANK)
        if "shape" in table
        else None
    )
    found = TensorMapArgument(
        name,
        expressions(table["box"], f"{where}: box", line, MAX_TENSOR_MAP_RANK),
        shape,
        str(swizzle),
        flag(table, "nan_outside", where, line),
    )
    return Argument(Expression(name, where, line), tensor_map=found)


def kind_of(value: Any) -> str:
    """Returns the words that error messages use for the type of a value."""
    names: dict[type, str] = {
        dict: "a table",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), f"a {type(value).__name__}")


def shown(value: Any) -> str:
    """Returns the text that error messages use for a value."""
    return "missing" if value is None else repr(value)[:80]
