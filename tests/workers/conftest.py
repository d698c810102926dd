"""Fixtures of the tests with workers, some of which run on a Slurm cluster of this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("tests/workers", "tests/e2e"):
    sys.path.insert(0, str(ROOT / folder))

from slurm import Slurm, missing_programs  # noqa: E402


@pytest.fixture(scope="session")
def binary() -> str:
    path = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    assert os.access(path, os.X_OK), f"{path} is not built; ./run setup builds it"
    return path


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[Slurm]:
    if missing := missing_programs():
        pytest.skip(f"Slurm is not installed: no {', '.join(missing)}; ./run cluster-test does it")
    if os.geteuid() != 0:
        pytest.skip("only root can run slurmd")
    folder = tmp_path / "slurm"
    folder.mkdir()
    with Slurm(folder, nodes=8) as cluster:
        yield cluster
