"""The source of a problem file: a Python module with a class `Model` (a torch.nn.Module), and with
functions `get_inputs` and `get_init_inputs` that return lists. KernelBench has such files.

    source = ProblemSource(text, "problem.py")
    source.sizes()  # the integers that a smaller case may change, such as [4096, 64]
    names = source.executed({4096: 33})  # the module's names, with 33 in place of 4096

Only integers that decide about inputs are changed: those in the two functions, and those that the
module assigns to names that only these functions use. The class stays as it is, because a
submission has a class of its own."""

from __future__ import annotations

import ast
import dis
import itertools
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, ModuleType
from typing import Any

INPUT_FUNCTIONS = ("get_inputs", "get_init_inputs")
LEAST_SIZE = 8  # a smaller integer is a kernel size, a stride, or a number of dimensions
_counter = itertools.count()


class BadProblem(Exception):
    """The file is not a problem file. The message says what it lacks."""


class ProblemSource:
    def __init__(self, text: str, path: str) -> None:
        self._path = path
        self._text = text
        self._tree = ast.parse(text, path)
        defined = {
            node.name
            for node in self._tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        for name in ("Model", *INPUT_FUNCTIONS):
            if name not in defined:
                kind = "function" if name in INPUT_FUNCTIONS else "class"
                raise BadProblem(f"it defines no {kind} `{name}` at the top level")

    def sizes(self) -> list[int]:
        """Returns the different integers that may be changed, the largest first."""
        found = {place.value for place in _places(self._tree)}
        return sorted((value for value in found if value > LEAST_SIZE), reverse=True)

    def executed(self, sizes: Mapping[int, int]) -> dict[str, Any]:
        """Executes the module, and returns its names. `sizes` maps integers to those that replace
        them."""
        tree = self._tree
        if sizes:
            tree = ast.parse(self._text, self._path)
            for place in _places(tree):
                place.value = sizes.get(place.value, place.value)
        name = f"assay_problem_{next(_counter)}"
        module = ModuleType(name)
        module.__file__ = self._path
        sys.modules[name] = module
        try:
            exec(compile(tree, self._path, "exec", dont_inherit=True), module.__dict__)
        finally:
            del sys.modules[name]
        return module.__dict__


def _places(tree: ast.Module) -> Iterator[Any]:
    """Yields the constants that may be changed."""
    inputs = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name in INPUT_FUNCTIONS
    ]
    assigned = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    others = [node for node in tree.body if node not in inputs and node not in assigned]
    used = _globals(compile(ast.Module(others, []), "", "exec", dont_inherit=True))
    # A size that decides about a name of the class must not change either.
    grown = True
    while grown:
        grown = False
        for node in assigned:
            if node.value is not None and _targets(node) & used:
                names = {x.id for x in ast.walk(node.value) if isinstance(x, ast.Name)}
                grown = grown or not names <= used
                used |= names
    for function in inputs:
        for statement in function.body:
            yield from _integers(statement)
    for node in assigned:
        if node.value is not None and not _targets(node) & used:
            yield from _integers(node.value)


def _globals(code: CodeType) -> set[str]:
    """Returns the names of the module that the code reads."""
    names = {
        step.argval
        for step in dis.get_instructions(code)
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _globals(constant)
    return names


def _targets(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {x.id for target in targets for x in ast.walk(target) if isinstance(x, ast.Name)}


def _integers(node: ast.AST) -> Iterator[ast.Constant]:
    for child in ast.walk(node):
        if isinstance(child, ast.Constant) and type(child.value) is int:
            yield child
