"""Changes what the installed version of Triton no longer accepts, so that files which were written
for an older version can still be imported.

    parts = parts_of(text, "cuda:90")
    parts.kernel, parts.test, parts.left_out  # left_out: one sentence for each change

Imports of names that Triton no longer has are left out, and a global `N: tl.constexpr = 4`, which
kernels could read, becomes `N: tl.constexpr = tl.constexpr(4)`. Triton has a module `libdevice` for
each vendor, and many functions have the same names in both. The module of another vendor than the
target's becomes that of the target. For example, GEAK's files use AMD's module, which does not
compile for NVIDIA's GPUs.

In the kernel part, only names that the part does not use are left out. It is a submission, and must
compile without them. In the test part, a test that uses such a name fails there with a NameError,
and its calls up to there count. The lines keep their numbers."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from golden_folder import split
from golden_options import without_foreign_options

PACKAGE = "triton"
VENDORS = ("cuda", "hip")  # the names of targets and of the packages in triton.language.extra
OF_LIBDEVICE = r"\.libdevice\b|\s+import\s+libdevice\b"
Imports = ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class GoldenParts:
    kernel: str
    test: str
    left_out: list[str]


def parts_of(text: str, target: str) -> GoldenParts:
    """Returns the two parts of a golden file, without the imports that are left out."""
    kernel, test = split(text)
    kernel, other = _with_libdevice(kernel, target)
    try:
        kernel, options = without_foreign_options(kernel, target)
        test, of_launches = without_foreign_options(test, target)  # that the test part makes
        kernel, globals_ = _with_constants(kernel)
        kernel, unused = _without_missing(kernel, also_used=False)
        test, missing = _without_missing(test, also_used=True)
    except SyntaxError:
        return GoldenParts(kernel, test, [])  # the file's import then fails with this error
    version = metadata.version(PACKAGE)
    names = dict.fromkeys([*unused, *missing])
    changes = [f"Triton {version} has no {name}; its import is left out" for name in names]
    changes += [
        f"kernels of Triton {version} cannot read {name}, so its value is a constexpr"
        for name in globals_
    ]
    changes += [
        f"the target is {target}, so functions of {name} are those of the target's own libdevice"
        for name in other
    ]
    changes += [
        f"the target is {target}, so AMD's compiler option {name} is left out"
        for name in dict.fromkeys([*options, *of_launches])
    ]
    return GoldenParts(kernel, test, changes)


def _with_libdevice(text: str, target: str) -> tuple[str, list[str]]:
    """Returns the text with the libdevice of the target's vendor, and the replaced modules."""
    own = target.partition(":")[0]
    changed = []
    for vendor in VENDORS:
        if vendor != own:
            text, count = re.subn(rf"\bextra\.{vendor}\b(?={OF_LIBDEVICE})", f"extra.{own}", text)
            changed += [f"{PACKAGE}.language.extra.{vendor}.libdevice"] * bool(count)
    return text, changed


def _with_constants(text: str) -> tuple[str, list[str]]:
    """Returns the text in which globals that are annotated as constexpr are such objects, and the
    names of these globals."""
    lines = text.split("\n")
    names = []
    for node in ast.parse(text).body:
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)):
            continue
        kind, value = ast.unparse(node.annotation), node.value
        if kind.rpartition(".")[2] != "constexpr" or not isinstance(value, ast.Constant):
            continue
        _replace(lines, value, f"{kind}({ast.unparse(value)})")
        names.append(node.target.id)
    return "\n".join(lines), names


def _without_missing(text: str, also_used: bool) -> tuple[str, list[str]]:
    """Returns the text without imports of missing names, and the names."""
    tree = ast.parse(text)
    lines = text.split("\n")
    gone: list[str] = []
    for node in tree.body:
        if not isinstance(node, Imports):
            continue
        missing = [
            alias
            for alias in node.names
            if _is_missing(node, alias) and (also_used or not _is_used(tree, alias))
        ]
        if missing:
            gone += [_full_name(node, alias) for alias in missing]
            node.names = [alias for alias in node.names if alias not in missing]
            assert node.end_lineno is not None
            _replace(lines, node, ast.unparse(node) if node.names else "pass")
    return "\n".join(lines), gone


def _replace(lines: list[str], node: Imports | ast.expr, statement: str) -> None:
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = lines[first].encode()[: node.col_offset].decode()
    after = lines[last].encode()[node.end_col_offset :].decode()
    lines[first : last + 1] = [before + statement + after, *[""] * (last - first)]


def _full_name(node: Imports, alias: ast.alias) -> str:
    return alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"


def _is_missing(node: Imports, alias: ast.alias) -> bool:
    """Returns True if the name belongs to Triton, and the installed version does not have it."""
    name = _full_name(node, alias)
    if name.partition(".")[0] != PACKAGE or alias.name == "*":
        return False
    if isinstance(node, ast.Import):
        return not _exists(name)
    return not _exists(str(node.module)) or not (
        hasattr(importlib.import_module(str(node.module)), alias.name) or _exists(name)
    )


def _exists(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def _is_used(tree: ast.Module, alias: ast.alias) -> bool:
    """Returns True if code of the part refers to the imported name."""
    name = alias.asname or alias.name
    return any(used == name or used.startswith(f"{name}.") for used in _used(tree))


def _used(tree: ast.Module) -> Iterator[str]:
    """Yields every name that is read, with its attributes: `a` and `a.b` for `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            yield ast.unparse(node)
