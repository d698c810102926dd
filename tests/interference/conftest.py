"""Fixtures of the tests of non-interference. These tests check that nothing in a server's answers
about a submission depends on the hidden cases.

pytest tests/interference       part of ./run test"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
for folder in (HERE, ROOT / "measurements", ROOT / "tests/common", ROOT / "tests/e2e"):
    sys.path.insert(0, str(folder))

from twins import Twins  # noqa: E402


@pytest.fixture(scope="session")
def binary() -> str:
    path = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    assert os.access(path, os.X_OK), f"{path} is not built; ./run setup builds it"
    return path


@pytest.fixture(scope="session")
def twins(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    running = Twins(binary, tmp_path_factory.mktemp("twins"))
    yield running
    running.close()
