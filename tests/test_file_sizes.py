"""Checks that folders and files stay small enough for a newcomer."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_FILES = 41  # the maximum number of files in a folder that a person edits
MAX_LINES = 400  # the maximum number of lines in a file of code, tests included
CODE = (".cc", ".h", ".py", ".ts", ".mjs", ".cu", ".sh")


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def tracked_files() -> list[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines() if (ROOT / path).is_file()]


def edited_files() -> list[str]:
    """Returns the files that a person edits. Leaves out corpora, measured results, golden files,
    and cases of the same kind, because a folder has many of these by design."""
    many = (
        "tests/fuzz/corpus/",
        "measurements/results/",
        "tests/wire/",
        "tests/escapes/",
        "tests/cheats/",
    )
    return [
        path
        for path in tracked_files()
        if not path.startswith(many) and folder_of(path) != "operators/examples"
    ]


def test_no_folder_has_too_many_files() -> None:
    count: dict[str, int] = {}
    for path in edited_files():
        count[folder_of(path)] = count.get(folder_of(path), 0) + 1
    assert {folder: n for folder, n in count.items() if n > MAX_FILES} == {}


def long_files() -> dict[str, int]:
    """Returns the code files with more than MAX_LINES lines, and their number of lines."""
    lines = {
        path: len((ROOT / path).read_text().splitlines())
        for path in tracked_files()
        if path.endswith(CODE)
    }
    assert len(lines) > 50
    return {path: n for path, n in lines.items() if n > MAX_LINES}


def test_no_file_is_too_long() -> None:
    assert long_files() == {}
