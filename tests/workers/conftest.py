"""Fixtures of the tests with workers, some of which run on a Slurm cluster of this machine."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

LEFT_S = 60.0  # the time that processes have to end after the last test of a file
ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("tests/workers", "tests/e2e"):
    sys.path.insert(0, str(ROOT / folder))

from slurm import Slurm, missing_programs  # noqa: E402


@pytest.fixture(scope="session")
def binary() -> str:
    path = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    assert os.access(path, os.X_OK), f"{path} is not built; ./run setup builds it"
    return path


def processes_with(variable: str) -> dict[int, str]:
    """Returns the other processes that have this environment variable, with their commands."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has just ended, or belongs to somebody else
            if variable.encode() in (process / "environ").read_bytes().split(b"\0"):
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ")
                if command and int(process.name) != os.getpid():  # a zombie has no command
                    found[int(process.name)] = command.decode(errors="replace")
    return found


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Checks that no process is left that a test of the file started, directly or not."""
    name, value = "ASSAY_TEST_RUN", secrets.token_hex(8)
    os.environ[name] = value
    yield
    del os.environ[name]
    deadline = time.monotonic() + LEFT_S
    while (left := processes_with(f"{name}={value}")) and time.monotonic() < deadline:
        time.sleep(0.1)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert not left


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
