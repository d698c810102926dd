"""Computes a digest of the code that decides what an import of a file gives. If the digest changes,
the file must be imported again.

    importer_digest()  # "9f86d081884c7d65"

The code is all sources that a process of the import may load: the modules of a step and, beginning
with them, every module of importers/ and of the harness that an `import` statement names. So a
change of the harness counts as far as an import runs it, and a change of another tool in this
folder does not count. The versions of torch and Triton count too."""

from __future__ import annotations

import ast
import hashlib
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The folders of sys.path in a process of an import.
FOLDERS = (
    ROOT / "importers/common",
    ROOT / "importers/tritonbench",
    ROOT / "importers/flashinfer",
    ROOT / "importers/kernelbench",
    ROOT / "sandbox",
)
# The modules that import_zygote.py loads, and those that a reference.py loads.
STEPS = ("golden_child", "tritonbench_operator", "harness.imported.golden")
TRACE_STEPS = ("trace_child", "harness.imported.definition")  # of FlashInfer Trace
PACKAGES = ("torch", "triton")
DIGEST_CHARS = 16


def importer_digest(steps: tuple[str, ...] = STEPS) -> str:
    """`steps` are the modules with which a process of the import begins."""
    digest = hashlib.sha256()
    for path in sources(steps):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    for package in PACKAGES:
        digest.update(metadata.version(package).encode() + b"\0")
    return digest.hexdigest()[:DIGEST_CHARS]


def sources(modules: tuple[str, ...]) -> list[Path]:
    """Returns the files of the modules and of all modules that they import, sorted. Modules outside
    of FOLDERS are left out."""
    found: set[Path] = set()
    waiting = [path for module in modules for path in _files(module)]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [file for name in _imported(path) for file in _files(name)]
    return sorted(found)


def _files(module: str) -> list[Path]:
    """Returns the files that are executed when the module is imported: those of the packages that
    contain it, and its own."""
    parts = module.split(".")
    candidates = (
        path
        for folder in FOLDERS
        for count in range(1, len(parts) + 1)
        for path in (
            folder.joinpath(*parts[:count], "__init__.py"),
            folder.joinpath(*parts[:count]).with_suffix(".py"),
        )
    )
    return [path for path in candidates if path.is_file()]


def _imported(path: Path) -> set[str]:
    """Returns the names that the file imports anywhere, also in its functions. A name may be that
    of something in a module, which _files() then does not find."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names
