"""Fixtures that run a server on the first GPU. All tests of a session use the same server."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in (
    ROOT / "measurements",
    ROOT / "tests/common",
    ROOT / "tests/e2e",
    Path(__file__).resolve().parent,
):
    sys.path.insert(0, str(folder))

from gpu_server import serve  # noqa: E402
from stdio_client import StdioClient  # noqa: E402


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gpu: needs a GPU, cuda:0")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Makes pytest ignore the tests of this folder on a machine without an NVIDIA GPU."""
    if collection_path.name.startswith("test_") and not os.path.exists("/dev/nvidiactl"):
        return True
    return None


@pytest.fixture(scope="session")
def gpu_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    yield from serve(tmp_path_factory.mktemp("store") / "assay.db")


@pytest.fixture(scope="session")
def host_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    """Runs a server with a shorter time limit, because in the tier `host` an endless kernel
    occupies the GPU until the limit."""
    yield from serve(tmp_path_factory.mktemp("store") / "assay.db", "--run-wall-ms", "15000")
