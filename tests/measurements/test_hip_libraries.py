"""Examines the HIP library of this machine, as measurements/amd/hip_libraries.py does. Debian's
(libamdhip64-5) compiles HIP C++ for gfx90a only."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_library_has_the_functions_and_compiles_what_its_version_knows(tmp_path: Path) -> None:
    try:
        ctypes.CDLL("libamdhip64.so.5")
    except OSError:
        pytest.skip("there is no libamdhip64-5")
    script, result = str(ROOT / "measurements/amd/hip_libraries.py"), tmp_path / "found.json"
    plans = tmp_path / "plans"
    command = [sys.executable, script, str(result), "--plans", str(plans)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(result.read_text()).values()
    assert found["functions"] == 42
    # Only a function that the launcher can do without is missing.
    assert set(found["missing"]) <= {"hipModuleLaunchCooperativeKernel"}
    figures = found["targets"]["hip:gfx90a"]
    assert [row["case"] for row in figures["submission"]] == ["small", "half"]
    for row in figures["submission"]:
        assert row["differences"] == [] and row["lines_of_assembly"][0] > 0
    assert len(figures["launchers_kernels"]) == 7
    assert (plans / "gfx90a-small.plan").read_bytes().startswith(b"ASSAYPLN")
