"""The syntax tree of a submission. Transforms use it to find places in the source and to change
them.

source = Source(operator)
source.replace(call, source.expression("tl.max({0}) * 0", call))
source.wrap_entry("return WORK(ARGUMENTS)")
text = source.text()
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from typing import TypeVar

from operator_text import OperatorText
from transform import NotApplicable, Reason

Node = TypeVar("Node", bound=ast.AST)


def pick(rng: random.Random, sites: list[Node], reason: Reason = Reason.NO_SITE) -> Node:
    """Returns one of the sites at random. Raises NotApplicable if there is no site."""
    if not sites:
        raise NotApplicable(reason)
    return rng.choice(sites)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST | None) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST | None:
        return self.new if node is self.old else self.generic_visit(node)


class Source:
    """A submission that a transform changes. A trigger is a branch that contains a trick. If `probe`
    is true, each trigger raises an exception, so the verdict shows whether one of them ran."""

    def __init__(self, operator: OperatorText, probe: bool = False) -> None:
        self.operator = operator
        self.probe = probe
        self.tree = ast.parse(operator.oracle)
        self._helpers: list[str] = []
        self._wrappers = 0

    def text(self) -> str:
        return ast.unparse(ast.fix_missing_locations(self.tree)) + "\n"

    # --- questions

    def functions(self) -> Iterator[ast.FunctionDef]:
        return (node for node in self.tree.body if isinstance(node, ast.FunctionDef))

    def kernels(self) -> list[ast.FunctionDef]:
        """Returns the functions that Triton compiles: kernels and their helpers."""
        return [
            f
            for f in self.functions()
            if not f.name.startswith("cheat_")
            and any("jit" in ast.unparse(d).split("(")[0] for d in f.decorator_list)
        ]

    def host_functions(self) -> list[ast.FunctionDef]:
        kernels = self.kernels()
        return [f for f in self.functions() if f not in kernels and not f.decorator_list]

    def in_kernels(self, kind: type[Node]) -> list[Node]:
        return [n for f in self.kernels() for n in ast.walk(f) if isinstance(n, kind)]

    def calls(self, *names: str) -> list[ast.Call]:
        """Returns the calls of tl.NAME or gl.NAME in kernels."""
        return [
            call
            for call in self.in_kernels(ast.Call)
            if isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id in ("tl", "gl")
            and call.func.attr in names
        ]

    def launches(self) -> list[ast.Call]:
        """Returns the calls of the form kernel[grid](...). A subscript by a text is no launch, but a
        function in a dictionary, which another transform has inserted."""
        return [
            call
            for f in self.host_functions()
            for call in ast.walk(f)
            if isinstance(call, ast.Call)
            and isinstance(call.func, ast.Subscript)
            and not (
                isinstance(call.func.slice, ast.Constant) and isinstance(call.func.slice.value, str)
            )
        ]

    def needs_triton(self) -> None:
        """Raises NotApplicable for Gluon, where an inserted expression would need a layout."""
        if any("gluon" in ast.unparse(d) for f in self.kernels() for d in f.decorator_list):
            raise NotApplicable(Reason.NOT_TRITON)

    # --- edits

    def expression(self, template: str, *parts: ast.AST) -> ast.expr:
        """Parses an expression. In `template`, {0}, {1} ... stand for the source text of `parts`."""
        return ast.parse(template.format(*map(ast.unparse, parts)), mode="eval").body

    def replace(self, old: ast.AST, new: ast.AST | None) -> None:
        self.tree = _Replace(old, new).visit(self.tree)

    def add_helper(self, text: str) -> None:
        """Adds the statements of `text` after the imports, unless they were added before."""
        if text in self._helpers:
            return
        self._helpers.append(text)
        last = max(
            (
                at
                for at, node in enumerate(self.tree.body)
                if isinstance(node, ast.Import | ast.ImportFrom)
            ),
            default=0,
        )
        self.tree.body[last + 1 : last + 1] = ast.parse(text).body

    def wrap_entry(self, body: str) -> None:
        """Renames the entry function, and adds a new entry function with `body`. In `body`,
        WORK(ARGUMENTS) calls the renamed function."""
        entry = next(f for f in self.functions() if f.name == self.operator.entry)
        self._wrappers += 1
        entry.name = f"cheat_work_{self._wrappers}"
        arguments = ", ".join(self.operator.arguments)
        lines = "\n".join(
            "    " + line
            for line in body.replace("ARGUMENTS", arguments)
            .replace("WORK", entry.name)
            .splitlines()
        )
        wrapper = f"def {self.operator.entry}({arguments}):\n{lines}\n"
        self.tree.body += ast.parse(wrapper).body

    def trigger(self) -> str:
        """Returns the first statement of a trigger: it raises an exception if `probe` is true."""
        return "raise RuntimeError('triggered')" if self.probe else "pass"
