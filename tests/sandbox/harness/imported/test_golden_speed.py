"""Tests that the judge patches autotuners only if a golden kernel has imported Triton."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from harness.imported import golden_speed
from harness.triton_adapter import autotuner
from triton.runtime.autotuner import Autotuner

SANDBOX = Path(__file__).resolve().parents[4] / "sandbox"
WITHOUT_TRITON = """
import sys
sys.path.insert(0, {path!r})
sys.modules["torch"] = None  # the module must not need it
from importlib import util
spec = util.spec_from_file_location("golden_speed", {path!r} + "/harness/imported/golden_speed.py")
module = util.module_from_spec(spec)
spec.loader.exec_module(module)
module.use_first_configuration()
with module.fastest_kernels():
    pass
assert "triton" not in sys.modules
"""


def test_a_judge_without_golden_kernels_does_not_import_triton() -> None:
    program = WITHOUT_TRITON.format(path=str(SANDBOX))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_autotuners_take_the_first_configuration_except_for_a_measurement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Autotuner, "run", None)  # other tests may have replaced it; restores it
    golden_speed.use_first_configuration()
    assert Autotuner.run is autotuner._run_first
    assert not autotuner._wants_fastest
    with golden_speed.fastest_kernels():
        assert autotuner._wants_fastest
    assert not autotuner._wants_fastest
