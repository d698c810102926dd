"""Fixtures that run the real binary. `ASSAY_BIN` is the binary's path, by default
build/release/bin/assay."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("measurements", "tests/common", "tests/crash", "tests/e2e"):
    sys.path.insert(0, str(ROOT / folder))

from llm_endpoint import Endpoint  # noqa: E402
from stdio_client import StdioClient  # noqa: E402

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

    def run(*arguments: str, timeout: float = 120, **env: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state"), **env}
        return subprocess.run(
            [binary, *arguments], capture_output=True, text=True, timeout=timeout, env=environment
        )

    return run


@pytest.fixture
def model() -> Iterator[Endpoint]:
    """Runs a fake model with an HTTP endpoint. The test sets the model's answers."""
    with Endpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def cpu_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the store of `cpu_server`, which contains the runs of other tests, too."""
    return tmp_path_factory.mktemp("store") / "assay.db"


@pytest.fixture(scope="session")
def cpu_server(binary: str, cpu_store: Path) -> Iterator[StdioClient]:
    """Runs a stdio server on the CPU device. All tests of a session use the same server."""
    client = StdioClient([binary, "serve", "--stdio", "--device", "cpu", "--store", str(cpu_store)])
    yield client
    client.close()
    assert client.process.returncode == 0
