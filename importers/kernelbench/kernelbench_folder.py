"""Reads a checkout of KernelBench: the problem files of one level. The code of the files is not
executed here.

    files = problem_files(Path("KernelBench"), 1, [], {"case_memory_mib": 20480})
    files[0].name  # "level1_19_ReLU.py"; or raises BadFolder, which says what helps"""

from __future__ import annotations

import re
from pathlib import Path

from benchmark_file import GoldenFile
from checkout import BAD_DATA, NO_INPUT, BadFolder, Provenance, listed, provenance_of, read_text

FOLDER = "a checkout of ScalingIntelligence/KernelBench"
TRIED = "423217d9fda91e0c2d67e4a43bf62f96f6d104f1"  # the revision that the importer was tried with
LEVELS = (1, 2, 3)
NAME = re.compile(r"[1-9][0-9]*_.+\.py")


def problem_files(
    folder: Path, level: int, only: list[str], options: dict[str, int]
) -> list[GoldenFile]:
    """Returns the problem files of the level in the order of their numbers, or those that `only`
    names. `options` are those of the import (golden_child.py)."""
    place = _level_folder(folder, level)
    names = sorted(
        (path.name for path in place.glob("*.py") if NAME.fullmatch(path.name)), key=_number
    )
    if not names:
        raise BadFolder(
            NO_INPUT, f"{place} has no problem file (NUMBER_NAME.py); it should be {FOLDER}"
        )
    if only:
        if unknown := sorted(set(only) - set(names)):
            raise BadFolder(NO_INPUT, f"{place} has no {listed(unknown)}")
        names = [name for name in names if name in only]
    else:
        _check_complete(place, names)
    provenance = provenance_of(place, "KernelBench")
    return [_read(place / name, level, provenance, options) for name in names]


def file_name(level: int, name: str) -> str:
    """Returns the name of a problem file in a suite, which may have several levels."""
    return f"level{level}_{name}"


def _number(name: str) -> int:
    return int(name.partition("_")[0])


def _level_folder(folder: Path, level: int) -> Path:
    if not folder.is_dir():
        raise BadFolder(NO_INPUT, f"{folder} is not a folder; it is {FOLDER}")
    for below in (f"KernelBench/level{level}", f"level{level}"):
        if (folder / below).is_dir():
            return folder / below
    if folder.resolve().name == f"level{level}":
        return folder
    raise BadFolder(
        NO_INPUT,
        f"{folder} has no folder KernelBench/level{level}; it should be {FOLDER} "
        "(if it is one: git checkout -- KernelBench)",
    )


def _check_complete(place: Path, names: list[str]) -> None:
    """The problems of a level are numbered from 1 without a gap."""
    numbers = [_number(name) for name in names]
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        raise BadFolder(
            BAD_DATA,
            f"{place} has two files with the number {twice[0]}; it is not one revision of the "
            "benchmark. Check it out again",
        )
    if missing := sorted(set(range(1, max(numbers) + 1)) - set(numbers)):
        raise BadFolder(
            NO_INPUT,
            f"{place} has {len(names)} files, numbered to {max(numbers)}: "
            f"{listed([str(number) for number in missing])} missing. Complete the checkout (git "
            "checkout -- KernelBench), or import single files with --only FILE",
        )


def _read(path: Path, level: int, provenance: Provenance, options: dict[str, int]) -> GoldenFile:
    text, problem = read_text(path)
    name = file_name(level, path.name)
    return GoldenFile(name, text, "", level, provenance, problem, "problem", options)
