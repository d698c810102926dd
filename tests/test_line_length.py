"""Checks that lines in build files, scripts and C++ sources have at most 100 columns. clang-format
and ruff format code, but they do not break long strings and do not read CMake and shell files."""

from __future__ import annotations

import fnmatch
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = 100
BUILD_AND_SCRIPTS = ("*CMakeLists.txt", "CMakePresets.json", "*.cmake", "run", ".ci/run", "*.sh")
PRODUCT = tuple(
    f"{folder}/*.{ending}"
    for folder in ("base", "metrics", "operators", "reference_agents", "sandbox", "server", "tools")
    for ending in ("cc", "h")
)

# Maps a file to the language of a long text in it. Lines of such a text may be longer.
FOREIGN: dict[str, str] = {
    "sandbox/launcher/driver/cuda_api.h": "a table of the driver's functions, one on a line",
    "sandbox/launcher/driver/hip_api.h": "a table of the driver's functions, one on a line",
    "sandbox/launcher/memory/trusted_ptx.cc": "PTX",
    "server/store/schema.h": "SQL",
}


def long_lines() -> dict[str, list[int]]:
    """Returns, for each file, the numbers of the lines that are too long."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    names = [
        name
        for name in listed.stdout.splitlines()
        if any(fnmatch.fnmatch(name, pattern) for pattern in BUILD_AND_SCRIPTS + PRODUCT)
        and (ROOT / name).is_file()
    ]
    assert len(names) > 400
    found = {
        name: [
            number
            for number, line in enumerate((ROOT / name).read_text().splitlines(), 1)
            if len(line) > COLUMNS
        ]
        for name in names
    }
    return {name: numbers for name, numbers in found.items() if numbers}


def test_no_line_is_too_long() -> None:
    found = {name: numbers for name, numbers in long_lines().items() if name not in FOREIGN}
    assert not found, f"longer than {COLUMNS} columns: {found}"


def test_no_file_is_excused_without_need() -> None:
    assert set(FOREIGN) <= set(long_lines())
