"""Follows each how-to: applies its code blocks to a copy of the source tree, and then uses the toy
operator, tool, device, agent or importer that the how-to adds.

A comment above a code block says what to do with the block. `<!-- file: PATH -->` writes the block
to a file. `<!-- in PATH, after: TEXT -->` inserts the block after the only line that contains this
text. With `before` instead of `after`, the block is inserted before this line. With `instead of`,
it replaces the line. `<!-- run -->` runs the block in a shell in the copy."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOW_TO = ROOT / "docs/how-to"
BINARY = Path(os.environ.get("ASSAY_BIN", ROOT / "build/release/bin/assay"))
BLOCK = re.compile(
    r"<!-- (?:(?P<run>run)|file: (?P<file>\S+)|in (?P<edited>\S+), (?P<how>after|before|instead of): (?P<at>.+?)) -->\n"
    r"```\w*\n(?P<text>.*?)```\n",
    re.DOTALL,
)
LEFT_OUT = ("measurements/results/", "docs/reference/generated/")


@pytest.fixture(scope="session")
def tracked() -> list[str]:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True)
    return [
        name
        for name in done.stdout.splitlines()
        if not name.startswith(LEFT_OUT) and not name.startswith("tests/")
    ] + ["tests/test_layering.py"]


@pytest.fixture
def copy(tracked: list[str], tmp_path: Path) -> Path:
    """Returns a copy of the source tree, which a how-to can change."""
    for name in tracked:
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / name)
    return tmp_path


def apply(document: str, copy: Path) -> tuple[list[str], list[str]]:
    """Applies a how-to to the copy. Returns the files that were written or changed, and the
    commands of the how-to."""
    touched, commands = [], []
    text = (HOW_TO / document).read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if match["run"]:
            commands.append(match["text"])
        elif match["file"]:
            file = copy / match["file"]
            assert not file.exists(), f"{match['file']} is there already"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(match["text"], encoding="utf-8")
            touched.append(match["file"])
        else:
            file = copy / match["edited"]
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            found = [i for i, line in enumerate(lines) if match["at"] in line]
            assert len(found) == 1, f"{match['edited']} has {len(found)} lines with {match['at']!r}"
            at = found[0]
            begin = at + 1 if match["how"] == "after" else at
            end = at if match["how"] == "before" else at + 1
            lines[begin:end] = [match["text"]]
            file.write_text("".join(lines), encoding="utf-8")
            touched.append(match["edited"])
    assert text.count("<!-- ") == len(touched) + len(commands), "a comment has no block"
    assert touched, "nothing to add"
    return touched, commands


def run(commands: list[str], copy: Path) -> str:
    """Runs a how-to's commands with the built program on the copy's files."""
    binary = copy / "build/release/bin/assay"
    binary.parent.mkdir(parents=True)
    binary.symlink_to(BINARY)
    python = copy / "bin/python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "ASSAY_ROOT": str(copy),
        "ASSAY_STATE_DIR": str(copy / "state"),
        "ASSAY_PYTHON": os.environ.get("ASSAY_PYTHON", str(ROOT / ".venv/bin/python")),
    }
    done = subprocess.run(
        ["bash", "-ec", "\n".join(commands)],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def compiles(files: list[str], copy: Path) -> None:
    """Checks that each C++ source that a how-to touched compiles."""
    sources = [file for file in files if file.endswith(".cc")]
    assert sources
    for source in sources:
        command = ["c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I."]
        done = subprocess.run(
            [*command, source], cwd=copy, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr


def layers_hold(files: list[str], copy: Path) -> None:
    """Checks that the files of a how-to include only what the table in tests/test_layering.py
    allows, and that this table has a line for every folder."""
    names = [Path(file).stem for file in files if file.endswith((".h", ".cc"))]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "tests/test_layering.py", "-k", " or ".join(["line", "cycle", *names])],
        cwd=copy,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_an_operator(copy: Path) -> None:
    touched, commands = apply("add-an-operator.md", copy)
    assert {Path(file).name for file in touched} == {"spec.toml", "reference.py", "oracle.py"}
    said = run(commands, copy)
    assert "soft_threshold" in said and "pass: " in said


def test_an_importer(copy: Path) -> None:
    touched, commands = apply("add-an-importer.md", copy)
    assert "toy_square" in run(commands, copy)
    compiles(touched, copy)


def test_a_device(copy: Path) -> None:
    touched, _ = apply("add-a-device.md", copy)
    compiles(touched, copy)
    layers_hold(touched, copy)


def test_an_agent(copy: Path) -> None:
    touched, _ = apply("add-an-agent.md", copy)
    compiles(touched, copy)
    layers_hold(touched, copy)


def test_a_tool(copy: Path) -> None:
    touched, _ = apply("add-a-tool.md", copy)
    compiles([*touched, "tools/registry.cc"], copy)
    layers_hold(touched, copy)
