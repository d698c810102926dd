"""Reads the manifest at the top of a CUDA C++ submission.

    /* assay
    [[launch]]
    kernel = "add<{x.dtype}>"
    grid = "ceil_div(n, 256)"
    block = 256
    args = ["x", "y", "z", "n"]
    */

    manifest = read_manifest(source_text)  # raises ManifestError: kind, line, and what is valid

This module checks only the form of a manifest. The values of names differ between cases, so
case_names.py evaluates the expressions for each case. All functions are pure."""

from __future__ import annotations

import re
import sys
from typing import Any

from harness.cuda_cpp.manifest import LaunchEntry, Manifest, Scratch
from harness.cuda_cpp.manifest_values import (
    NAME,
    argument,
    check_keys,
    expression,
    expressions,
    flag,
    kind_of,
    options,
    shown,
)
from harness.entry.errors import ManifestError, MissingEntry
from harness.wire.tensors import DTYPES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_MANIFEST_CHARS = 64 << 10
# The maximum length of a line. The time of the TOML parser grows with the square of the number of
# parts of a dotted key. A key is on one line, so this limit also limits the time.
MAX_LINE_CHARS = 4 << 10
# The maximum number of [[launch]] entries. With the key `repeat`, one entry creates several
# launches.
MAX_LAUNCHES = 256
MAX_NAMES = 256  # the maximum number of scratch buffers, of sizes, and of defines
MAX_ARGUMENTS = 256
MAX_TEXT_CHARS = 1000
_BEGIN = re.compile(r"\A\ufeff?(?:\s|//[^\n]*(?:\n|\Z))*/\*[ \t]*assay\b")
_MISSING = (
    "the file does not begin with a manifest; a CUDA C++ submission starts with a comment `/* assay ... */` whose TOML lists its launches: "
    "[[launch]] with kernel, grid, block and args"
)


def read_manifest(source: str) -> Manifest:
    """Returns the manifest at the top of a source. Raises ManifestError if the manifest is wrong,
    or MissingEntry if the source has no manifest."""
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
    for number, line in enumerate(text.split("\n"), first_line):
        if len(line) > MAX_LINE_CHARS:
            raise ManifestError(
                "value_error",
                f"a line of the manifest has {len(line)} characters; the limit is {MAX_LINE_CHARS}",
                number,
            )
    return _Reader(text, first_line).manifest()


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
        check_keys(
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
                name: expression(value, f"sizes.{name}", self._line("sizes", name))
                for name, value in self._table("sizes")
            },
            scratch={name: self._scratch(name, value) for name, value in self._table("scratch")},
            fills={
                name: expression(value, f"fill.{name}", self._line("fill", name))
                for name, value in self._table("fill")
            },
            defines={
                name: expression(value, f"defines.{name}", self._line("defines", name))
                for name, value in self._table("defines")
            },
            options=options(document.get("options", []), self._line("options")),
        )

    # The methods below find lines in the manifest, for error messages.

    def _line(self, section: str, key: str = "", number: int = 1) -> int:
        """Returns the line of a key in the number-th table named `section`. If the table lacks the
        key, returns the line of the table."""
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

    # The methods below read tables of the manifest.

    def _table(self, section: str) -> list[tuple[str, Any]]:
        table = self._document.get(section, {})
        line = self._line(section)
        if not isinstance(table, dict):
            raise ManifestError(
                "type_error", f"{section} is {kind_of(table)}; want a table, [{section}]", line
            )
        if len(table) > MAX_NAMES:
            raise ManifestError(
                "value_error",
                f"[{section}] has {len(table)} entries; the limit is {MAX_NAMES}",
                line,
            )
        for name in table:
            if not NAME.match(name) or len(name) > MAX_TEXT_CHARS:
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
                "type_error",
                f"{where} is {kind_of(table)}; want a table with dtype and shape",
                line,
            )
        check_keys(where, table, ("dtype", "shape"), line)
        dtype = table.get("dtype")
        if dtype not in DTYPES:
            raise ManifestError(
                "value_error",
                f"{where}: dtype {shown(dtype)} is none of {', '.join(DTYPES)}",
                line,
            )
        if "shape" not in table:
            raise ManifestError(
                "value_error",
                f'{where} has no shape; want a list of expressions, as in ["rows", 4]',
                line,
            )
        return Scratch(str(dtype), expressions(table["shape"], f"{where}: shape", line, 8))

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
        check_keys(where, table, keys, line)

        def at(key: str) -> int:
            return self._line("launch", key, number)

        kernel = table.get("kernel")
        if (
            not isinstance(kernel, str)
            or not kernel.strip()
            or len(kernel) > MAX_TEXT_CHARS
            or not kernel.strip().isprintable()
        ):
            raise ManifestError(
                "value_error",
                f"{where}: kernel is {shown(kernel)}; want a kernel's name on one line, with spaces but no tabs, "
                'as in "add" or "add<256, {x.dtype}>"',
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
                f"{where}: args is {kind_of(arguments)}; want a list of at most {MAX_ARGUMENTS}",
                at("args"),
            )
        return LaunchEntry(
            kernel=kernel.strip(),
            where=where,
            line=at("kernel"),
            grid=expressions(table["grid"], f"{where}: grid", at("grid"), 3),
            block=expressions(table["block"], f"{where}: block", at("block"), 3),
            cluster=expressions(table.get("cluster", 1), f"{where}: cluster", at("cluster"), 3),
            shared=expression(table.get("shared", 0), f"{where}: shared", at("shared")),
            when=expression(table.get("when", True), f"{where}: when", at("when")),
            repeat=expression(table.get("repeat", 1), f"{where}: repeat", at("repeat")),
            cooperative=flag(table, "cooperative", where, at("cooperative")),
            dependent_launch=flag(table, "dependent_launch", where, at("dependent_launch")),
            arguments=[
                argument(value, f"{where}: argument {i}", at("args"))
                for i, value in enumerate(arguments)
            ],
        )
