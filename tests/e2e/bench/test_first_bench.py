"""Runs the commands of docs/tutorial/first-bench.md, and looks at what they leave."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from test_readme import ROOT, commands, shell

TUTORIAL = ROOT / "docs/tutorial/first-bench.md"


@pytest.fixture
def clone(binary: str, tmp_path: Path) -> Path:
    """Returns a folder that looks like a built clone. The commands write their files to it."""
    (tmp_path / "build/release/bin").mkdir(parents=True)
    (tmp_path / "build/release/bin/assay").symlink_to(binary)
    return tmp_path


def test_the_commands_of_the_tutorial(clone: Path) -> None:
    lines = commands(TUTORIAL, "assay ")
    assert len(lines) == 6, lines
    outputs = []
    for line in lines:
        done = shell(clone, line)
        assert done.returncode == 0, (line, done.stderr[-2000:])
        outputs.append(done.stdout)
    bench, runs, report, _, _, resumed = outputs
    for agent in ("one_shot", "leader"):
        row = rf"{agent} +sim:7 \(no model\) +\w+ +4 of 4 "
        assert re.search(row, bench) and re.search(row, report) and re.search(row, resumed)
    # All tables have the order of the command, and not that of the folders' names.
    for table in (bench, report, resumed):
        assert table.rindex("\none_shot ") < table.rindex("\nleader ")
    assert len(re.findall(r"run_\w+", runs)) == 4
    assert "softmax" not in (clone / "bench-out/first.html").read_text(encoding="utf-8")
    rows = list(csv.DictReader((clone / "bench-out/first.csv").open(encoding="utf-8")))
    assert len(rows) == 8
