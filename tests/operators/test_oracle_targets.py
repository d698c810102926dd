"""Oracles that use what one generation or one maker's compiler has must still compile for the others."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
TEXTS = {path.parent.name: path for path in sorted((ROOT / "operators").glob("[!d]*/*/oracle.py"))}
DEPENDENT_LAUNCH = [name for name, path in TEXTS.items() if "gdc_wait" in path.read_text()]  # Hopper and newer
TOO_LARGE = {"group_norm"}  # its programs have more threads than gfx942 allows
REGISTERS = [name for name, path in TEXTS.items() if "maxnreg" in path.read_text() and name not in TOO_LARGE]  # ptxas alone
CASES = [(name, "cuda:80") for name in DEPENDENT_LAUNCH] + [(name, "hip:gfx942") for name in (*DEPENDENT_LAUNCH[:1], *REGISTERS)]


def test_there_are_some() -> None:
    assert DEPENDENT_LAUNCH and REGISTERS


@pytest.mark.parametrize(("name", "target"), CASES)
def test_compiles(name: str, target: str) -> None:
    command = [BINARY, "eval", name, str(TEXTS[name]), "--device", "cpu", "--mode", "compile", "--target", target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
