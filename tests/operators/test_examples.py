"""Checks that every example gives correct results in Triton's interpreter, and that its kernels
compile for an NVIDIA GPU. Each of the two checks runs in one process for all examples."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "operators/examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
LEAST = 100
LONGEST_LINES = 45  # the maximum number of lines without `check`, which an agent does not see


def problems(mode: str, folder: Path) -> dict[str, str | None]:
    runner = Path(__file__).with_name("example_runner.py")
    done = subprocess.run(
        [sys.executable, str(runner), mode, str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return {row["name"]: row["problem"] for row in map(json.loads, done.stdout.splitlines())}


def test_all_are_right() -> None:
    found = problems("interpret", FOLDER)
    gluon = {path.stem for path in EXAMPLES if "@gluon.jit" in path.read_text()}
    assert set(found) == {path.stem for path in EXAMPLES} - gluon
    assert len(found) >= LEAST and 0 < len(gluon) < 10
    wrong = {name: problem for name, problem in found.items() if problem}
    assert not wrong, "\n".join(f"{name}: {problem}" for name, problem in wrong.items())


def test_all_compile() -> None:
    found = problems("compile", FOLDER)
    assert set(found) == {path.stem for path in EXAMPLES}
    broken = {name: problem for name, problem in found.items() if problem}
    assert not broken, "\n".join(f"{name}: {problem}" for name, problem in broken.items())


@pytest.mark.parametrize("mode", ["interpret", "compile"])
def test_a_broken_one_is_found(mode: str, tmp_path: Path) -> None:
    source = (FOLDER / "popcount_hamming.py").read_text()
    change = ("x55555555", "x55555554") if mode == "interpret" else ("tl.sum(", "tl.summ(")
    assert change[0] in source
    (tmp_path / "broken.py").write_text(source.replace(*change))
    assert problems(mode, tmp_path)["broken"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_reads_well(path: Path) -> None:
    """Checks that an example is short and consists of a title, a kernel, a host function and a
    check, in this order."""
    text = path.read_text()
    title = text.split("\n", 1)[0]
    assert re.fullmatch(r'""".{20,}[.](""")?', title), title
    shown, separator, check = text.partition("\n\n\ndef check():\n")
    assert separator and "assert" in check and len(shown.splitlines()) <= LONGEST_LINES
    assert shown.index("jit") < shown.rindex("\ndef ")
