"""Fixtures of the tests of what a server shows from outside.

pytest tests/observability       part of ./run test"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tests/observability", "measurements", "tests/common", "tests/crash", "tests/e2e")
for folder in (ROOT / name for name in FOLDERS):
    sys.path.insert(0, str(folder))

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def binary() -> str:
    path = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    assert os.access(path, os.X_OK), f"{path} is not built; ./run setup builds it"
    return path


@pytest.fixture
def assay(binary: str, tmp_path: Path) -> Run:
    """Returns a function that runs `assay ARGS...` to its end. The state is in a scratch
    directory."""

    def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state"), **env}
        return subprocess.run(
            [binary, *arguments], capture_output=True, text=True, timeout=120, env=environment
        )

    return run
