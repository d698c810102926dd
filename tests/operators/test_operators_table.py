"""Checks that docs/reference/generated/operators.md agrees with the committed results and the
folders."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = sorted(path.parent.name for path in (ROOT / "operators").glob("*/*/spec.toml"))


def test_the_pages_are_what_the_program_writes(tmp_path: Path) -> None:
    out, baselines = tmp_path / "operators.md", tmp_path / "nvidia-h200.toml"
    command = [
        sys.executable,
        str(ROOT / "measurements/operators_table.py"),
        "--out",
        str(out),
        "--baselines",
        str(baselines),
    ]
    subprocess.run(command, check=True, timeout=60)
    written, committed = (
        out.read_text(),
        (ROOT / "docs/reference/generated/operators.md").read_text(),
    )
    assert written == committed, (
        "run `python measurements/operators_table.py` and commit docs/reference/generated/operators.md"
    )
    assert [name for name in NAMES if f"| `{name}` |" not in written] == []
    # The page gives a reason for each oracle that is slower than the reference.
    assert "no reason is known" not in written
    assert baselines.read_text() == (ROOT / "operators/baselines/nvidia-h200.toml").read_text()
    found = tomllib.loads(baselines.read_text())["operators"]
    assert set(found) <= set(NAMES) and all(
        one["oracle_ns"] > 0 and one["bytes"] > 0 for one in found.values()
    )


def test_every_mutant_of_every_operator_is_refused() -> None:
    linted = json.loads((ROOT / "measurements/results/operators-cpu.json").read_text())
    assert sorted(entry["name"] for entry in linted["operators"]) == NAMES, (
        "run `assay operators lint --out measurements/results/operators-cpu.json`"
    )
    assert [
        entry["name"]
        for entry in linted["operators"]
        if not entry["sound"] or entry["killed"] != entry["mutants"]
    ] == []
