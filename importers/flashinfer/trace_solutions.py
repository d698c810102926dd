"""Copies the solutions of a FlashInfer Trace dataset next to the imported operators, in a form that
`assay eval` takes: SUITE/solutions/OPERATOR/SOLUTION.py. Nothing is executed.

    for line in write_solutions(dataset, suite, {"gemm_n128": "gemm_n128"}):
        print(line)

A solution fits if it is one Python file (language `python` or `triton`). The entry point of a
submission has the name `run`, so a line may be added that gives it this name."""

from __future__ import annotations

import collections
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trace_dataset import MAX_FILE_BYTES
from trace_operator import operator_name

FOLDER = "solutions"
LANGUAGES = ("python", "triton")
MAX_SOURCE_BYTES = 1 << 20  # what a submission may have


class Misfit(Exception):
    """The solution cannot be a submission. The message says why, for counting."""


def write_solutions(dataset: Path, suite: Path, operators: dict[str, str]) -> Iterator[str]:
    """`operators` maps definitions to the names of their operators. Yields lines that say what
    became of the solutions."""
    out = suite / FOLDER
    shutil.rmtree(out, ignore_errors=True)
    paths = sorted((dataset / "solutions").rglob("*.json"))
    why: collections.Counter[str] = collections.Counter()
    copied = 0
    for path in paths:
        try:
            definition, name, source = submission_of(path)
            if definition not in operators:
                raise Misfit("their definition gave no operator")
        except Misfit as error:
            why[str(error)] += 1
            continue
        folder = out / operators[definition]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{operator_name(name)}.py").write_text(source, encoding="utf-8")
        copied += 1
    if not paths:
        return
    yield f"{len(paths)} solutions: {copied} copied to {out}"
    if copied:
        yield f"  judge one: assay eval OPERATOR {out}/OPERATOR/SOLUTION.py --suite {suite}"
    for reason, count in sorted(why.items()):
        yield f"  {count} not copied: {reason}"


def submission_of(path: Path) -> tuple[str, str, str]:
    """Returns the solution's definition, its name, and the text of a submission."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise Misfit("they are too large")
        solution: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        spec, sources = solution["spec"], solution["sources"]
        file, _, symbol = spec["entry_point"].partition("::")
        definition, name = str(solution["definition"]), str(solution["name"])
        texts = {one["path"]: str(one["content"]) for one in sources}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Misfit("they do not follow the format") from error
    if spec.get("language") not in LANGUAGES:
        raise Misfit(f"their language is neither {' nor '.join(LANGUAGES)}")
    if len(texts) != 1:
        raise Misfit("they have several files")
    if file not in texts or not symbol.isidentifier():
        raise Misfit("they do not follow the format")
    text = texts[file]
    if symbol != "run":
        text += f"\n\nrun = {symbol}\n"
    if len(text.encode()) > MAX_SOURCE_BYTES:
        raise Misfit("they are too large")
    return definition, name, text
