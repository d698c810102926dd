"""Leaves out the options of another vendor's compiler, so that a kernel that was tuned for GPUs of
this vendor can be compiled for the target.

    text, names = without_foreign_options(text, "cuda:90")

Triton refuses an option that the target's compiler does not have. Such an option changes how fast a
kernel is, and not what it computes. It is left out of the dicts of Config and of launches, unless a
function of the file has a parameter of this name. A dict may also be a call of `dict`, or be made
of others with `**` or `|`. The lines keep their numbers."""

from __future__ import annotations

import ast
import io
import tokenize
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

# The options that only AMD's compiler has, in every version of Triton that is supported.
OF_AMD = ("waves_per_eu", "matrix_instr_nonkdim", "kpack")


@dataclass(frozen=True)
class Token:
    text: str
    begin: int  # in bytes, as `end`
    end: int


@dataclass(frozen=True)
class Option:
    """An entry of a dict or a keyword of a call."""

    name: str
    begin: int  # of the key or of the keyword's name, without parentheses, in bytes
    key_end: int
    value_begin: int  # without parentheses, which the syntax tree does not have
    value_end: int


def without_foreign_options(text: str, target: str) -> tuple[str, list[str]]:
    """Returns the text without the options, and the names of the options. Raises SyntaxError."""
    if target.startswith("hip:"):
        return text, []
    tree = ast.parse(text)
    own = {
        argument.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    }
    foreign = [name for name in OF_AMD if name not in own]
    lines = text.encode().splitlines(keepends=True)
    options = sorted(_taken_options(tree, foreign, _starts(lines)), key=lambda one: -one.begin)
    if not options:
        return text, []
    left = _without(text, lines, options)
    # `tree` has lost the options too, so an error of this module cannot change a kernel.
    try:
        same = ast.dump(ast.parse(left)) == ast.dump(tree)
    except SyntaxError:
        same = False
    found = [name for name in OF_AMD if any(one.name == name for one in options)]
    if not same:
        raise RuntimeError(f"leaving out {', '.join(found)} changed other parts of the file")
    return left, found


def _starts(lines: list[bytes]) -> list[int]:
    """Returns where each line begins, in bytes."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts


def _taken_options(tree: ast.AST, names: list[str], starts: list[int]) -> Iterator[Option]:
    """Removes the options from the tree, and yields them."""

    def place(node: ast.expr | ast.keyword) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        begin = starts[node.lineno - 1] + node.col_offset  # ast counts columns in bytes
        return begin, starts[node.end_lineno - 1] + node.end_col_offset

    def of_keywords(call: ast.Call) -> Iterator[Option]:
        kept = []
        for keyword in call.keywords:
            if keyword.arg in names:
                name, begin = str(keyword.arg), place(keyword)[0]
                yield Option(name, begin, begin + len(name), *place(keyword.value))
            else:
                kept.append(keyword)
            if keyword.arg is None:
                yield from of_dict(keyword.value)
        call.keywords = kept

    def of_dict(given: ast.expr) -> Iterator[Option]:
        if isinstance(given, ast.Dict):
            kept = []
            for key, value in zip(given.keys, given.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in names:
                    yield Option(str(key.value), *place(key), *place(value))
                else:
                    kept.append((key, value))
                if key is None:
                    yield from of_dict(value)
            given.keys, given.values = [key for key, _ in kept], [value for _, value in kept]
        elif isinstance(given, ast.Call) and _name_of(given.func) == "dict":
            yield from of_keywords(given)
            for argument in given.args:
                yield from of_dict(argument)
        elif isinstance(given, ast.BinOp) and isinstance(given.op, ast.BitOr):
            yield from of_dict(given.left)
            yield from of_dict(given.right)

    for node in list(ast.walk(tree)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            yield from of_keywords(node)
        elif isinstance(node, ast.Call) and _name_of(node.func) == "Config":
            for given in [*node.args, *(keyword.value for keyword in node.keywords)]:
                yield from of_dict(given)


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _tokens(text: str, lines: list[bytes]) -> list[Token]:
    """Returns the tokens, without comments and ends of lines."""
    starts = _starts(lines)

    def offset(row: int, column: int) -> int:
        """tokenize counts columns in characters."""
        if row > len(lines):
            return starts[-1]
        return starts[row - 1] + len(lines[row - 1].decode()[:column].encode())

    return [
        Token(token.string, offset(*token.start), offset(*token.end))
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE)
    ]


def _without(text: str, lines: list[bytes], options: list[Option]) -> str:
    """Replaces options by spaces, and with each of them the comma after it or else the one before
    it. The options are in order from the last to the first."""
    tokens = _tokens(text, lines)
    begins = [token.begin for token in tokens]
    data = text.encode()
    commas: set[int] = set()  # the indexes of those that are replaced
    for option in options:
        # Between the key and the value are the parentheses that close around the key, a colon or an
        # equals sign, and the parentheses that open around the value.
        first, after_key = bisect_left(begins, option.begin), bisect_left(begins, option.key_end)
        sign = next(at for at in range(after_key, len(tokens)) if tokens[at].text in (":", "="))
        first -= sign - after_key
        opened = bisect_left(begins, option.value_begin) - sign - 1
        after = bisect_left(begins, option.value_end) + opened
        begin = tokens[first].begin
        end = tokens[after - 1].end if opened else option.value_end
        if tokens[after].text == "," and after not in commas:
            end = tokens[after].end
        elif tokens[first - 1].text == ",":
            commas.add(first - 1)
            begin = tokens[first - 1].begin
        kept = bytes(byte if byte in b"\r\n" else ord(" ") for byte in data[begin:end])
        data = data[:begin] + kept + data[end:]
    return data.decode()
