"""Makes the code of a FlashInfer Trace definition from an operator's reference.py: the function
`reference`, what it needs, and a function `run`. The functions that describe hidden cases (`inputs`,
`mutants`, `shortcuts`) and `cost` are left out.

    text = reference_code(source, ["x", "y"])

The source is parsed and never executed. Pure functions."""

from __future__ import annotations

import ast
import re

HOOKS = ("inputs", "mutants", "shortcuts", "cost", "open_elements", "output_axes")


class NoReference(Exception):
    """The code of the reference cannot stand alone."""


def reference_code(source: str, arguments: list[str]) -> str:
    tree = ast.parse(source)
    lines = source.splitlines()
    kept = _needed(tree)
    parts = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            if not _is_harness(node):
                parts.append(_text(node, lines))
        elif kept & set(_names(node)):
            parts.append("\n" + _text(node, lines))
    if "run" in kept:
        raise NoReference("the reference needs a function `run`, a name that the format takes")
    text = "\n".join(parts) + "\n"
    if [one.arg for one in _reference(tree).args.args] != arguments:
        raise NoReference(f"`reference` does not take {', '.join(arguments)}")
    # Only the definition has the name, because no needed statement may read it.
    return re.sub(r"^def reference\(", "def run(", text, count=1, flags=re.MULTILINE)


def _reference(tree: ast.Module) -> ast.FunctionDef:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "reference":
            return node
    raise NoReference("it defines no function `reference`")


def _is_harness(node: ast.Import | ast.ImportFrom) -> bool:
    names = (
        [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
    )
    return any(name.partition(".")[0] == "harness" for name in names)


def _names(node: ast.stmt) -> list[str]:
    """Returns the names that a top-level statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign | ast.AugAssign)
        else []
    )
    return [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]


def _needed(tree: ast.Module) -> set[str]:
    """Returns the top-level names that `reference` needs, with its own."""
    defined: dict[str, list[ast.stmt]] = {}
    for node in tree.body:
        for name in _names(node):
            defined.setdefault(name, []).append(node)
    if "reference" not in defined:
        raise NoReference("it defines no function `reference`")
    from_harness = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom) and _is_harness(node)
        for alias in node.names
    }
    needed: set[str] = set()
    waiting = ["reference"]
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue
        needed.add(name)
        for node in defined[name]:
            for used in _used(node):
                if used in from_harness:
                    raise NoReference(f"the reference needs {used}, which is a part of Assay")
                if used == "reference":
                    raise NoReference("the reference calls itself")
                if used in defined and used not in HOOKS:
                    waiting.append(used)
    return needed


def _used(node: ast.stmt) -> set[str]:
    """Returns the names that a statement reads. Annotations are not evaluated, so they are left
    out."""
    skipped: set[int] = set()
    for one in ast.walk(node):
        annotations = [
            getattr(one, "annotation", None),
            getattr(one, "returns", None),
        ]
        for annotation in annotations:
            if isinstance(annotation, ast.expr):
                skipped |= {id(part) for part in ast.walk(annotation)}
    return {
        one.id for one in ast.walk(node) if isinstance(one, ast.Name) and id(one) not in skipped
    }


def _text(node: ast.stmt, lines: list[str]) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(one.lineno for one in decorators)])
    return "\n".join(lines[first - 1 : node.end_lineno])
