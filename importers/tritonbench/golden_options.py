"""Leaves out the options of another vendor's compiler, so that a kernel that was tuned for GPUs of this
vendor can be compiled for the target.

    text, names = without_foreign_options(text, "cuda:90")

Triton refuses an option that the target's compiler does not have. Such an option changes how fast a
kernel is, and not what it computes. It is left out of the dicts of Config and of launches, unless a
function of the file has a parameter of this name. The lines keep their numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# The options that only AMD's compiler has, in every version of Triton that is supported.
OF_AMD = ("waves_per_eu", "matrix_instr_nonkdim", "kpack")


def without_foreign_options(text: str, target: str) -> tuple[str, list[str]]:
    """Returns the text without the options, and the names of the options. Raises SyntaxError."""
    if target.startswith("hip:"):
        return text, []
    tree = ast.parse(text)
    own = {
        argument.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for argument in [*node.args.args, *node.args.kwonlyargs]
    }
    foreign = [name for name in OF_AMD if name not in own]
    spans = sorted(_spans(tree, foreign), reverse=True)
    found = []
    data = text.encode()  # ast counts columns in bytes
    starts = [0]
    for text_of_line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(text_of_line))
    for (line, column), (end_line, end_column), name in spans:
        begin, end = starts[line - 1] + column, starts[end_line - 1] + end_column
        data = _blank(data, begin, end)
        found.append(name)
    return data.decode(), [name for name in OF_AMD if name in found]


Position = tuple[int, int]


def _spans(tree: ast.AST, names: list[str]) -> Iterator[tuple[Position, Position, str]]:
    """Yields where an option and its value begin and end, and the option's name."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Subscript):
            for keyword in node.keywords:
                if keyword.arg in names:
                    yield (
                        (keyword.lineno, keyword.col_offset),
                        _end(keyword.value),
                        str(keyword.arg),
                    )
        elif _name_of(node.func) == "Config":
            for given in [*node.args, *(keyword.value for keyword in node.keywords)]:
                if isinstance(given, ast.Dict):
                    for key, value in zip(given.keys, given.values, strict=True):
                        if isinstance(key, ast.Constant) and key.value in names:
                            yield (key.lineno, key.col_offset), _end(value), str(key.value)


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _end(node: ast.expr) -> Position:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def _blank(data: bytes, begin: int, end: int) -> bytes:
    """Replaces the entry of a list, and the comma after it or else the one before it, by spaces."""
    after = end
    while after < len(data) and data[after : after + 1].isspace():
        after += 1
    if data[after : after + 1] == b",":
        end = after + 1
    else:
        before = begin
        while before and data[before - 1 : before].isspace():
            before -= 1
        if before and data[before - 1 : before] == b",":
            begin = before - 1
    kept = bytes(byte if byte in b"\r\n" else ord(" ") for byte in data[begin:end])
    return data[:begin] + kept + data[end:]
