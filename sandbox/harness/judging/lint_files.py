"""Checks the files of an operator for `operators lint`, without running them: the signatures, the
imports of the oracle, and the places that the author must still fill in.

    check = signature_check(operator)
    print(check.name, check.ok, check.detail)"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

from harness.judging.check import Check
from harness.operator import Baseline, Operator, OperatorError

ORACLE_IMPORTS = ("torch", "triton", "math", "__future__")
# `operators new` writes these words at each place that the author must fill in.
TO_FILL_IN = "FILL IN"


def signature_check(operator: Operator) -> Check:
    names = [argument.name for argument in operator.arguments]
    text = str(operator.spec.get("signature", ""))
    entry = str(operator.spec.get("entry", ""))
    match = re.fullmatch(r"\s*(\w+)\s*\((.*)\)\s*(->.*)?", text, re.DOTALL)
    written = (
        [part.split(":")[0].strip() for part in match.group(2).split(",")]
        if match and match.group(2).strip()
        else []
    )
    parameters = inspect.signature(operator.module.reference).parameters
    takes_all = [parameter.kind for parameter in parameters.values()] == [
        inspect.Parameter.VAR_KEYWORD
    ]
    reference = names if operator.imported and takes_all else list(parameters)
    problems = []
    if match is None or match.group(1) != entry or written != names:
        problems.append(f"signature {text!r} does not match entry {entry!r} and arguments {names}")
    if reference != names:
        problems.append(f"reference({', '.join(reference)}) does not take {names}")
    has_entry = bool(_adapter(operator)) or operator.baseline is Baseline.ORACLE
    oracle = _entry_parameters(operator, entry) if has_entry else names
    if oracle != names:
        where = "the adapter" if _adapter(operator) else "oracle.py"
        problems.append(
            f"{where}'s {entry} takes {oracle}, not {names}"
            if oracle is not None
            else f"{where} does not define {entry}"
        )
    return Check(None, "signatures agree", not problems, "; ".join(problems))


def _oracle_tree(operator: Operator) -> ast.Module:
    try:
        return ast.parse((operator.folder / "oracle.py").read_text(encoding="utf-8"))
    except (OSError, SyntaxError) as error:
        raise OperatorError(f"{operator.folder / 'oracle.py'}: {error}") from error


def _adapter(operator: Operator) -> str:
    return str(operator.spec.get("adapter", ""))


def _entry_parameters(operator: Operator, entry: str) -> list[str] | None:
    """Returns the parameters of the entry function, which the adapter defines if there is one."""
    adapter = _adapter(operator)
    tree = ast.parse(adapter) if adapter else _oracle_tree(operator)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == entry:
            return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return None


def import_check(operator: Operator) -> Check:
    foreign = set()
    for node in ast.walk(_oracle_tree(operator)):
        if isinstance(node, ast.Import):
            foreign |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            foreign.add((node.module or "").split(".")[0])
    foreign -= set(ORACLE_IMPORTS)
    return Check(
        None,
        "oracle imports only torch and triton",
        not foreign,
        f"it imports {', '.join(sorted(foreign))}" if foreign else "",
    )


def open_place_check(operator: Operator) -> Check:
    open_places = [
        f"{operator.folder / name}:{number}: {line.strip().lstrip('# ')}"
        for name in _files_of(operator)
        for number, line in enumerate(_lines(operator.folder / name), 1)
        if TO_FILL_IN in line
    ]
    return Check(None, "every place is filled in", not open_places, "; ".join(open_places))


def _files_of(operator: Operator) -> list[str]:
    files = ["spec.toml", "reference.py"]
    return [*files, "oracle.py"] if operator.baseline is Baseline.ORACLE else files


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise OperatorError(f"{file}: {error.strerror}") from error
