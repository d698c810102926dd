"""Reads the imported suites that suites_table.py measures: what the importer wrote about each file and
operator, and the benchmark's own answer to each operator."""

from __future__ import annotations

import ast
import hashlib
import json
import random
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SEED = 20250220
IN_JAIL = re.compile(r"/tmp/import-\d+/suite/")  # where the importer checks what it made
SAME_CLASS = "\n\n\nclass ModelNew(Model):\n    pass\n"


@dataclass
class Suite:
    """An imported suite. `record` is its entry in the result."""

    folder: Path
    record: dict[str, Any]

    @property
    def names(self) -> list[str]:
        """The names of the operators, in the order in which they are judged."""
        names = sorted(one["name"] for one in self.record["operators"])
        random.Random(SEED).shuffle(names)
        return names

    @property
    def has_oracles(self) -> bool:
        """Whether at least one operator has an oracle."""
        return any(one["baseline"] == "oracle" for one in self.record["operators"])

    def baseline(self, name: str) -> str:
        found = (one["baseline"] for one in self.record["operators"] if one["name"] == name)
        return str(next(found))

    def missing(self, step: str) -> list[str]:
        known = {sample["operator"] for sample in self.record[step]}
        return [name for name in self.names if name not in known]


def about_operator(folder: Path) -> dict[str, Any]:
    """Returns the operator's baseline, and whether it has a hidden case of other shapes."""
    spec: dict[str, Any] = tomllib.loads((folder / "spec.toml").read_text(encoding="utf-8"))
    cases = spec.get("cases", [])
    public = [case["axes"] for case in cases if case["visibility"] == "public"]
    others = [case for case in cases if case["axes"] not in public]
    return {
        "baseline": spec.get("baseline", "oracle"),
        "other_shapes": bool(others),
        "sha256": digest_of(folder),
    }


def digest_of(folder: Path) -> str:
    """Returns a digest of the operator's files."""
    digest = hashlib.sha256()
    for path in sorted(one for one in folder.iterdir() if one.is_file()):
        digest.update(f"{path.name}\n{path.stat().st_size}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def refusal_of(file: dict[str, Any]) -> dict[str, Any]:
    """Says why a file gives no operator: it cannot be used itself, or each of its calls was left out."""
    left_out = file.get("left_out", [])
    kind = file["kind"] or ("left_out" if left_out else file.get("tier", ""))
    why = IN_JAIL.sub("", file["reason"] or "; ".join(left_out))
    return {"file": file["file"], "kind": kind, "why": why}


def suite_of(folder: Path) -> Suite:
    """Reads what the importer wrote."""
    try:
        text = (folder / "import.json").read_text(encoding="utf-8")
        about = tomllib.loads((folder / "suite.toml").read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SystemExit(f"{folder} is not a suite that `assay import` made: {error}") from error
    files = json.loads(text)["files"]
    operators = [
        {
            "name": one["name"],
            "file": file["file"],
            **about_operator(folder / "standard" / one["name"]),
        }
        | {key: one[key] for key in ("tier", "cases", "interpreted") if key in one}
        for file in files
        for one in file["operators"]
    ]
    refused = [refusal_of(file) for file in files if not file["operators"]]
    record = {
        "name": about["name"],
        "version": about.get("version", ""),
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "files": len(files),
        "refused": refused,
        "operators": operators,
        "verdicts": [],
        "lint": [],
    }
    return Suite(folder, record)


def without_harness(reference: str) -> str:
    """Returns the benchmark's own part of a reference.py, which ends where the importer's begins:
    with the first import of Assay's harness."""
    for statement in ast.parse(reference).body:
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("harness"):
            return "\n".join(reference.splitlines()[: statement.lineno - 1]) + "\n"
    return reference


def submission_of(folder: Path) -> str:
    """Returns the benchmark's own answer to the operator in this folder."""
    if (folder / "oracle.py").exists():
        return (folder / "oracle.py").read_text(encoding="utf-8")
    if (folder / "problem.py").exists():
        return (folder / "problem.py").read_text(encoding="utf-8") + SAME_CLASS
    return without_harness((folder / "reference.py").read_text(encoding="utf-8"))
