"""The server of tests/e2e, on the CPU device, for the tests of this folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("measurements", "tests/common"):
    sys.path.insert(0, str(ROOT / folder))

from stdio_client import StdioClient  # noqa: E402


@pytest.fixture(scope="session")
def binary() -> str:
    path = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    assert os.access(path, os.X_OK), f"{path} is not built; ./run setup builds it"
    return path


@pytest.fixture(scope="session")
def server(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    store = tmp_path_factory.mktemp("store") / "assay.db"
    client = StdioClient([binary, "serve", "--stdio", "--device", "cpu", "--store", str(store)])
    yield client
    client.close()
    assert client.process.returncode == 0
