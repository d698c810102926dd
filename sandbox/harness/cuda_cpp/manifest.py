"""Reads the host part of a CUDA C++ submission: TOML in the comment at its top. It replaces host
code.

    /* assay
    [[launch]]
    kernel = "add<{x.dtype}>"
    grid = "ceil_div(n, 256)"
    block = 256
    args = ["x", "y", "z", "n"]
    */

    manifest = read_manifest(source_text)  # raises ManifestError: kind, line, and what is valid

Only the form is checked in this module. The values of names differ from case to case, so
expressions are evaluated for each case (case_names.py). docs/reference/cuda-submissions.md
documents the language. All functions are pure."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import Any

from harness.cuda_cpp.expressions import ExpressionError, parse
from harness.entry.errors import ManifestError, MissingEntry
from harness.wire.tensors import DTYPES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_MANIFEST_CHARS = 64 << 10
MAX_LAUNCHES = 256  # entries; `repeat` makes several launches of one entry
MAX_NAMES = 256  # the limit for scratch buffers, for sizes, and for defines
MAX_ARGUMENTS = 256
MAX_TEXT_CHARS = 1000
_BEGIN = re.compile(r"\A\ufeff?(?:\s|//[^\n]*(?:\n|\Z))*/\*[ \t]*assay\b")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_HOLE = re.compile(r"\{([^{}]*)\}")
_MISSING = (
    "the file does not begin with a manifest; a CUDA C++ submission starts with a comment `/* assay ... */` whose TOML lists its launches: "
    "[[launch]] with kernel, grid, block and args"
)

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


@dataclass(frozen=True)
class Expression:
    """The text of a number, and its place in the manifest."""

    text: str
    where: str  # "launch 1 (softmax): grid"
    line: int


@dataclass(frozen=True)
class TensorMapArgument:
    """A TMA descriptor. The launcher encodes it for the buffer's address."""

    buffer: str
    box: list[Expression]  # in the order of the shape: outermost first
    shape: list[Expression] | None  # None: the tensor's own shape
    swizzle: str
    nan_outside: bool


@dataclass(frozen=True)
class Argument:
    """A kernel's argument as written: an expression, a buffer, or a tensor map. `dtype` is set if
    the manifest gives the type."""

    expression: Expression
    dtype: str = ""
    tensor_map: TensorMapArgument | None = None


@dataclass(frozen=True)
class Scratch:
    dtype: str
    shape: list[Expression]


@dataclass(frozen=True)
class LaunchEntry:
    kernel: str
    where: str
    line: int  # the line of the key `kernel`
    grid: list[Expression]
    block: list[Expression]
    cluster: list[Expression]
    shared: Expression
    when: Expression
    repeat: Expression
    cooperative: bool
    dependent_launch: bool
    arguments: list[Argument]


@dataclass(frozen=True)
class Manifest:
    launches: list[LaunchEntry]
    sizes: dict[str, Expression] = field(default_factory=dict)
    scratch: dict[str, Scratch] = field(default_factory=dict)
    fills: dict[str, Expression] = field(default_factory=dict)
    defines: dict[str, Expression] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)


def read_manifest(source: str) -> Manifest:
    """Returns the manifest at the top of a source. Raises ManifestError, or MissingEntry if there
    is no manifest."""
    begin = _BEGIN.match(source)
    if begin is None:
        raise MissingEntry(_MISSING)
    first_line = source.count("\n", 0, begin.end()) + 1
    end = source.find("*/", begin.end())
    if end < 0:
        raise ManifestError(
            "syntax_error",
            "the manifest's comment `/* assay` does not end; close it with */",
            first_line,
        )
    text = source[begin.end() : end]
    if len(text) > MAX_MANIFEST_CHARS:
        raise ManifestError(
            "value_error",
            f"the manifest has {len(text)} characters; the limit is {MAX_MANIFEST_CHARS}",
            first_line,
        )
    return _Reader(text, first_line).manifest()


def holes(text: str) -> list[str]:
    """Returns the expressions in braces in a kernel's name."""
    return [match.group(1) for match in _HOLE.finditer(text)]


def fill_holes(text: str, values: list[str]) -> str:
    """Returns the text with its braces replaced by `values`, in order."""
    rest = iter(values)
    return _HOLE.sub(lambda _: next(rest), text)


class _Reader:
    def __init__(self, text: str, first_line: int) -> None:
        self._lines = text.split("\n")
        self._first = first_line
        try:
            self._document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            at = re.search(r"\(at line (\d+), column \d+\)", str(error))
            line = first_line + int(at.group(1)) - 1 if at else first_line + len(self._lines) - 1
            message = re.sub(r" \(at (?:line \d+, column \d+|end of document)\)", "", str(error))
            raise ManifestError(
                "syntax_error", f"the manifest is not valid TOML: {message}", line
            ) from None
        except RecursionError:
            raise ManifestError(
                "syntax_error", "the manifest is nested too deeply", first_line
            ) from None

    def manifest(self) -> Manifest:
        document = self._document
        self._known(
            "the manifest",
            document,
            ("launch", "sizes", "scratch", "fill", "defines", "options"),
            self._first,
        )
        launches = document.get("launch")
        if (
            not isinstance(launches, list)
            or not launches
            or not all(isinstance(entry, dict) for entry in launches)
        ):
            raise ManifestError(
                "value_error",
                "the manifest has no [[launch]]; each has kernel, grid, block and args",
                self._first,
            )
        if len(launches) > MAX_LAUNCHES:
            raise ManifestError(
                "value_error",
                f"{len(launches)} [[launch]] entries are over the limit of {MAX_LAUNCHES}",
                self._first,
            )
        return Manifest(
            launches=[self._launch(entry, number) for number, entry in enumerate(launches, 1)],
            sizes={
                name: self._expression(value, f"sizes.{name}", self._line("sizes", name))
                for name, value in self._table("sizes")
            },
            scratch={name: self._scratch(name, value) for name, value in self._table("scratch")},
            fills={
                name: self._expression(value, f"fill.{name}", self._line("fill", name))
                for name, value in self._table("fill")
            },
            defines={
                name: self._expression(value, f"defines.{name}", self._line("defines", name))
                for name, value in self._table("defines")
            },
            options=self._options(),
        )

    # ---- places

    def _line(self, section: str, key: str = "", number: int = 1) -> int:
        """Returns the line of a key in the number-th table of the given name. If the table lacks
        the key, the line is that of the table."""
        header = re.compile(rf"\s*\[+\s*{re.escape(section)}\s*\]+")
        inline = re.compile(rf"\s*{re.escape(section)}\s*=")
        found = self._first
        left = number
        for at, line in enumerate(self._lines):
            if left and (header.match(line) or inline.match(line)):
                left -= 1
                found = self._first + at
                if not left and inline.match(line):
                    return found
            elif not left and re.match(r"\s*\[", line) and not re.match(r"\s*\[[^\]]*,", line):
                return found
            elif not left and key and re.match(rf"\s*{re.escape(key)}\s*[=.]", line):
                return self._first + at
        return found

    # ---- tables

    def _known(self, where: str, table: dict[str, Any], keys: tuple[str, ...], line: int) -> None:
        for key in table:
            if key not in keys:
                raise ManifestError(
                    "value_error",
                    f"{where} has an unknown key {key[:80]!r}; valid: {', '.join(keys)}",
                    line,
                )

    def _table(self, section: str) -> list[tuple[str, Any]]:
        table = self._document.get(section, {})
        line = self._line(section)
        if not isinstance(table, dict):
            raise ManifestError(
                "type_error", f"{section} is {_kind(table)}; want a table, [{section}]", line
            )
        if len(table) > MAX_NAMES:
            raise ManifestError(
                "value_error",
                f"[{section}] has {len(table)} entries; the limit is {MAX_NAMES}",
                line,
            )
        for name in table:
            if not _NAME.match(name) or len(name) > MAX_TEXT_CHARS:
                raise ManifestError(
                    "value_error",
                    f"[{section}]: {name[:80]!r} is not a name; want letters, digits and _",
                    line,
                )
        return list(table.items())

    def _scratch(self, name: str, table: Any) -> Scratch:
        where, line = f"scratch.{name}", self._line(f"scratch.{name}")
        if line == self._first:
            line = self._line("scratch", name)
        if not isinstance(table, dict):
            raise ManifestError(
                "type_error", f"{where} is {_kind(table)}; want a table with dtype and shape", line
            )
        self._known(where, table, ("dtype", "shape"), line)
        dtype = table.get("dtype")
        if dtype not in DTYPES:
            raise ManifestError(
                "value_error",
                f"{where}: dtype {_shown(dtype)} is none of {', '.join(DTYPES)}",
                line,
            )
        if "shape" not in table:
            raise ManifestError(
                "value_error",
                f'{where} has no shape; want a list of expressions, as in ["rows", 4]',
                line,
            )
        return Scratch(str(dtype), self._list(table["shape"], f"{where}: shape", line, 8))

    def _options(self) -> list[str]:
        given = self._document.get("options", [])
        line = self._line("options")
        if not isinstance(given, list):
            raise ManifestError(
                "type_error", f"options is {_kind(given)}; want a list of strings", line
            )
        for option in given:
            if not isinstance(option, str) or not any(
                re.fullmatch(known, option) for known in _OPTIONS
            ):
                raise ManifestError(
                    "value_error", f"option {_shown(option)} is not allowed; valid: {OPTIONS}", line
                )
        return list(dict.fromkeys(given))

    def _launch(self, table: dict[str, Any], number: int) -> LaunchEntry:
        where, line = f"launch {number}", self._line("launch", "", number)
        keys = (
            "kernel",
            "grid",
            "block",
            "args",
            "cluster",
            "shared",
            "when",
            "repeat",
            "cooperative",
            "dependent_launch",
        )
        self._known(where, table, keys, line)

        def at(key: str) -> int:
            return self._line("launch", key, number)

        kernel = table.get("kernel")
        if not isinstance(kernel, str) or not kernel.strip() or len(kernel) > MAX_TEXT_CHARS:
            raise ManifestError(
                "value_error",
                f'{where}: kernel is {_shown(kernel)}; want a kernel\'s name, as in "add" or "add<256, {{x.dtype}}>"',
                at("kernel"),
            )
        where = f"{where} ({kernel.strip()[:60]})"
        for key in ("grid", "block", "args"):
            if key not in table:
                raise ManifestError(
                    "value_error",
                    f"{where} has no {key}; it needs kernel, grid, block and args",
                    line,
                )
        arguments = table["args"]
        if not isinstance(arguments, list) or len(arguments) > MAX_ARGUMENTS:
            raise ManifestError(
                "type_error",
                f"{where}: args is {_kind(arguments)}; want a list of at most {MAX_ARGUMENTS}",
                at("args"),
            )
        return LaunchEntry(
            kernel=kernel.strip(),
            where=where,
            line=at("kernel"),
            grid=self._list(table["grid"], f"{where}: grid", at("grid"), 3),
            block=self._list(table["block"], f"{where}: block", at("block"), 3),
            cluster=self._list(table.get("cluster", 1), f"{where}: cluster", at("cluster"), 3),
            shared=self._expression(table.get("shared", 0), f"{where}: shared", at("shared")),
            when=self._expression(table.get("when", True), f"{where}: when", at("when")),
            repeat=self._expression(table.get("repeat", 1), f"{where}: repeat", at("repeat")),
            cooperative=self._flag(table, "cooperative", where, at("cooperative")),
            dependent_launch=self._flag(table, "dependent_launch", where, at("dependent_launch")),
            arguments=[
                self._argument(value, f"{where}: argument {i}", at("args"))
                for i, value in enumerate(arguments)
            ],
        )

    @staticmethod
    def _flag(table: dict[str, Any], key: str, where: str, line: int) -> bool:
        value = table.get(key, False)
        if not isinstance(value, bool):
            raise ManifestError(
                "type_error", f"{where}: {key} is {_kind(value)}; want true or false", line
            )
        return value

    def _list(self, value: Any, where: str, line: int, most: int) -> list[Expression]:
        values = value if isinstance(value, list) else [value]
        if not 1 <= len(values) <= most:
            raise ManifestError(
                "value_error", f"{where} has {len(values)} entries; want 1 to {most}", line
            )
        return [self._expression(one, where, line) for one in values]

    @staticmethod
    def _expression(value: Any, where: str, line: int) -> Expression:
        if isinstance(value, bool | int | float):
            return Expression(str(value), where, line)
        if not isinstance(value, str):
            raise ManifestError(
                "type_error",
                f"{where} is {_kind(value)}; want a number or an expression in quotes",
                line,
            )
        try:
            parse(value)
        except ExpressionError as error:
            raise ManifestError(error.kind, f"{where}: {error}", line) from None
        return Expression(value.strip(), where, line)

    def _argument(self, value: Any, where: str, line: int) -> Argument:
        if isinstance(value, dict):
            return self._tensor_map(value, where, line)
        text, _, dtype = value.partition(":") if isinstance(value, str) else (value, "", "")
        dtype = dtype.strip()
        if dtype and dtype not in SCALAR_DTYPES:
            raise ManifestError(
                "value_error",
                f"{where}: type {_shown(dtype)} is none of {', '.join(SCALAR_DTYPES)}",
                line,
            )
        return Argument(self._expression(text, where, line), dtype)

    def _tensor_map(self, table: dict[str, Any], where: str, line: int) -> Argument:
        self._known(where, table, ("tensor_map", "box", "shape", "swizzle", "nan_outside"), line)
        name = table.get("tensor_map")
        if not isinstance(name, str) or not _NAME.match(name):
            raise ManifestError(
                "value_error",
                f"{where}: tensor_map is {_shown(name)}; want the name of a tensor",
                line,
            )
        swizzle = table.get("swizzle", "none")
        if swizzle not in SWIZZLES:
            raise ManifestError(
                "value_error",
                f"{where}: swizzle {_shown(swizzle)} is none of {', '.join(SWIZZLES)}",
                line,
            )
        if "box" not in table:
            raise ManifestError(
                "value_error", f"{where}: a tensor_map has a box, as in [64, 64]", line
            )
        shape = (
            self._list(table["shape"], f"{where}: shape", line, MAX_TENSOR_MAP_RANK)
            if "shape" in table
            else None
        )
        found = TensorMapArgument(
            name,
            self._list(table["box"], f"{where}: box", line, MAX_TENSOR_MAP_RANK),
            shape,
            str(swizzle),
            self._flag(table, "nan_outside", where, line),
        )
        return Argument(Expression(name, where, line), tensor_map=found)


SCALAR_DTYPES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
)
SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}  # the CUDA driver's numbers
MAX_TENSOR_MAP_RANK = 5


def _kind(value: Any) -> str:
    names: dict[type, str] = {
        dict: "a table",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), f"a {type(value).__name__}")


def _shown(value: Any) -> str:
    return "missing" if value is None else repr(value)[:80]
