"""Copies the solutions of a FlashInfer Trace dataset next to the imported operators, in a form that
`assay eval` takes: SUITE/solutions/OPERATOR/SOLUTION.py. Nothing is executed.

    for line in write_solutions(paths, suite, {"gemm_n128": "gemm_n128"}):
        print(line)

A solution fits if it is one Python file (language `python`, `pytorch` or `triton`). The entry point of a
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
LANGUAGES = ("python", "pytorch", "triton")
MAX_SOURCE_BYTES = 1 << 20  # what a submission may have


class Misfit(Exception):
    """The solution cannot be a submission. The message says why, for counting."""


def write_solutions(paths: list[Path], suite: Path, operators: dict[str, str]) -> Iterator[str]:
    """`paths` are files with a solution each. `operators` maps definitions to the names of their
    operators. Yields lines that say what became of the solutions."""
    out = suite / FOLDER
    shutil.rmtree(out, ignore_errors=True)
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
        languages = [*spec.get("languages", []), *filter(None, [spec.get("language")])]
        texts = {one["path"]: _content(path, one) for one in sources}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Misfit("they do not follow the format") from error
    if not languages or not set(languages) <= set(LANGUAGES):
        raise Misfit(f"their language is none of {', '.join(LANGUAGES)}")
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


def _content(path: Path, source: dict[str, Any]) -> str:
    """Returns a source's text. Without `content`, it is in a file beside the solution."""
    if source.get("content"):
        return str(source["content"])
    file = (path.parent / source["path"]).resolve()
    if not file.is_relative_to(path.parent.resolve()):
        raise ValueError(f"{source['path']} is outside of the solution's folder")
    return file.read_text(encoding="utf-8") if file.is_file() else ""
