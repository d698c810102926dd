"""Writes the grid of a launch as Python text for an adapter, if a test part gives a function.

    grid = grid_of(lambda meta: (triton.cdiv(n, meta["BLOCK"]),))
    grid.values  # {"n": 4096}: numbers, which become arguments of the operator
    grid.text({"n": "a0"})  # "(lambda meta, n=a0: (triton.cdiv(n, meta['BLOCK']),))"
    grid(meta)  # what the function returns

A kernel with an autotuner has a grid that depends on the configuration, so the adapter must contain
the function. This is possible for a function of one expression that uses only its parameter,
numbers, `triton` and builtins."""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any


class Grid:
    """A function that computes a grid (see the module's docstring)."""

    def __init__(
        self, function: Callable[..., Any], parameter: str, body: str, values: dict[str, Any]
    ) -> None:
        self.values = values
        self._function, self._parameter, self._body = function, parameter, body

    def __call__(self, meta: Any) -> Any:
        return self._function(meta)

    def text(self, names: Mapping[str, str]) -> str:
        given = "".join(f", {name}={names[name]}" for name in self.values)
        return f"(lambda {self._parameter}{given}: {self._body})"


def grid_of(function: Any) -> Any:
    """Returns a Grid, or the function itself if it cannot be written."""
    if not isinstance(function, FunctionType) or function.__code__.co_argcount != 1:
        return function
    node = _node(function.__code__)
    body = _body(node)
    if body is None:
        return function
    known = {**function.__globals__, **_closure(function)}
    parameter = function.__code__.co_varnames[0]
    values: dict[str, Any] = {}
    for part in ast.walk(body):
        if not isinstance(part, ast.Name) or part.id == parameter:
            continue
        value = known.get(part.id)
        if type(value) in (int, float, bool):
            values[part.id] = value
        elif not (
            (isinstance(value, ModuleType) and value.__name__ == part.id == "triton")
            or (part.id not in known and hasattr(builtins, part.id))
        ):
            return function
    return Grid(function, parameter, ast.unparse(body), values)


def _closure(function: FunctionType) -> dict[str, Any]:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    found: dict[str, Any] = {}
    for name, cell in cells:
        try:
            found[name] = cell.cell_contents
        except ValueError:  # the variable has no value yet
            continue
    return found


def _node(code: CodeType) -> ast.AST | None:
    """Returns the only function in the code's file that begins in its line."""
    tree = _tree(code.co_filename)
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda | ast.FunctionDef)
        and node.lineno == code.co_firstlineno
        and [one.arg for one in node.args.args] == list(code.co_varnames[: code.co_argcount])
    ]
    return found[0] if len(found) == 1 else None


@functools.lru_cache(maxsize=4)
def _tree(path: str) -> ast.AST:
    try:
        return ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _body(node: ast.AST | None) -> ast.expr | None:
    """Returns the expression that the function returns, or None if it does more."""
    if isinstance(node, ast.Lambda):
        return node.body
    if isinstance(node, ast.FunctionDef) and len(node.body) == 1:
        only = node.body[0]
        return only.value if isinstance(only, ast.Return) else None
    return None
