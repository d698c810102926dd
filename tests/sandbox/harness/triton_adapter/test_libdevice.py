"""Runs libdevice_checks.py in a process of its own, because tests of the interpreter change Triton
for all later tests of their process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_a_kernel_gets_the_same_code_from_a_small_libdevice() -> None:
    checks = Path(__file__).with_name("libdevice_checks.py")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, str(checks)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 passed" in done.stdout
