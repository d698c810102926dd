"""Changes the author's sources so that they fit into the files of a new operator.

source, function = fitting_source(source, "reference")  # "original_reference"
text = oracle_text(request, request.oracle, source)"""

from __future__ import annotations

import ast
import re

from operator_request import BAD_DATA, FunctionInFile, Refused, Request

# What Assay calls or imports in a reference.py.
TAKEN = ("inputs", "reference", "cost", "mutants", "shortcuts", "Case", "Cost", "Rng", "Tensor")


def fitting_source(source: str, function: str) -> tuple[str, str]:
    """Returns the source as reference.py can contain it, and the name of the function in it."""
    return _renamed(_without_future(source), function)


def oracle_text(request: Request, given: FunctionInFile | None, source: str) -> str:
    """Returns the text of oracle.py: the source, or a function with a place to fill in. The
    entry has the operator's name and the names of its arguments."""
    names = [one.name for one in request.inputs]
    parameters = ", ".join(names)
    if not source:
        return (
            f'"""Launches the kernel of {request.name}."""\n\n'
            f"import torch\nimport triton\nimport triton.language as tl\n\n\n"
            f"def {request.name}({parameters}):\n"
            "    # FILL IN: write a @triton.jit kernel above, launch it here, and return its output.\n"
            f'    raise NotImplementedError("{request.name} has no kernel yet")\n'
        )
    if given is None:
        return source
    functions = _functions(source, given)
    if given.function not in functions:
        shown = ", ".join(functions) or "no function"
        raise Refused(f"{given.file} does not define {given.function!r}; it defines {shown}")
    taken = functions[given.function]
    if given.function == request.name:
        if taken == names:
            return source
        raise Refused(
            f"{given.file}: {given.function} takes ({', '.join(taken)}), but the inputs are "
            f"({parameters}); use the same names"
        )
    if request.name in functions:
        raise Refused(
            f"{given.file} defines {request.name!r} and the oracle {given.function!r}; the oracle "
            f"gets the name {request.name!r}, so rename the other function"
        )
    return (
        source.rstrip("\n") + f"\n\n\ndef {request.name}({parameters}):\n"
        f"    return {given.function}({parameters})\n"
    )


def _functions(source: str, given: FunctionInFile) -> dict[str, list[str]]:
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise Refused(f"{given.file}:{error.lineno}: {error.msg}", BAD_DATA) from error
    return {
        node.name: [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


def _without_future(source: str) -> str:
    kept = [
        line
        for line in source.splitlines()
        if not re.match(r"from __future__ import \w+\s*(#.*)?$", line)
    ]
    return "\n".join(kept)


def _renamed(source: str, function: str) -> tuple[str, str]:
    """Returns the source and the function's name. If Assay uses the name in a reference.py, the
    function gets another one."""
    tree = ast.parse(source)
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    clash = sorted((defined & set(TAKEN)) - {function})
    if clash:
        raise Refused(
            f"the reference's file defines {clash[0]!r}, which reference.py defines for Assay; "
            f"rename it. Taken: {', '.join(TAKEN)}"
        )
    if function not in TAKEN:
        return source, function
    new = f"original_{function}".lower()
    lines = [line.encode() for line in source.split("\n")]
    places = {
        (node.lineno, node.col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == function
    }
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            at = lines[node.lineno - 1].index(function.encode(), node.col_offset + len("def "))
            places.add((node.lineno, at))
    for line, column in sorted(places, reverse=True):
        text = lines[line - 1]
        lines[line - 1] = text[:column] + new.encode() + text[column + len(function.encode()) :]
    return b"\n".join(lines).decode(), new
