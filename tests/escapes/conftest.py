"""Fixtures of the escape suite. The suite sends every case to a real server through its public
tools. After each case it checks the invariants and two controls: a correct submission must pass,
and a wrong submission must fail.

pytest tests/escapes                      every case that needs no GPU
pytest tests/escapes -m short             only the cases that ./run test runs
pytest tests/escapes -m gpu               the cases that need a GPU, on ASSAY_DEVICE (default cuda:0)
ASSAY_WITHOUT=seccomp pytest ...          leaves out an isolation layer (only in a mutation build): a
                                          test must fail
ASSAY_ESCAPES_RESULTS=FILE                writes the results to FILE, for table.py
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
for folder in (HERE, ROOT / "measurements", ROOT / "tests/common"):
    sys.path.insert(0, str(folder))

from case_file import Case, all_cases, read_case  # noqa: E402
from escape_server import EscapeServer, can_be_private  # noqa: E402

WATCHDOG_S = 600
LARGEST = ("86_artifact_flood",)
Results = dict[str, dict[str, Any]]


def pytest_report_header() -> str:
    if can_be_private():
        return "escapes: the server has a /tmp, a /dev/shm and System V objects of its own, which are watched"
    return "escapes: /tmp, /dev/shm and System V objects are NOT watched: that takes root, and a checkout outside of /tmp"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "short: a case of the escape suite that ./run test runs")
    config.addinivalue_line("markers", "launcher: an attempt on the launcher's jail")
    config.addinivalue_line("markers", "gpu: needs a GPU: ASSAY_DEVICE, else cuda:0")


@pytest.fixture(scope="session")
def control_cases() -> tuple[Case, Case]:
    return read_case(HERE / "controls/00_correct.py"), read_case(HERE / "controls/00_wrong.py")


@pytest.fixture(scope="session")
def results() -> Iterator[Results]:
    """Collects the results by the name of the case."""
    seen: Results = {}
    yield seen
    if path := os.environ.get("ASSAY_ESCAPES_RESULTS"):
        Path(path).write_text(json.dumps(seen, indent=1, sort_keys=True) + "\n")


@pytest.fixture(scope="session")
def binary() -> str:
    path = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    assert os.access(path, os.X_OK), f"{path} is not built; ./run setup builds it"
    return path


@pytest.fixture(scope="session")
def escape_server(
    binary: str, request: pytest.FixtureRequest, control_cases: tuple[Case, Case]
) -> Iterator[EscapeServer]:
    gpu = (
        "gpu" in request.config.option.markexpr and "not gpu" not in request.config.option.markexpr
    )
    device = os.environ.get("ASSAY_DEVICE", "cuda:0" if gpu else "cpu")
    server = EscapeServer(binary, device, os.environ.get("ASSAY_WITHOUT", ""))
    try:
        largest = [read_case(HERE / f"cases/{name}.py").source({}) for name in LARGEST]
        server.warm_up(control_cases[0].source({}), largest)
        yield server
    finally:
        status = server.close()
    assert status == 0, f"the server ended with status {status}"


@pytest.fixture(autouse=True)
def watchdog() -> Iterator[None]:
    """Makes the test fail if the server never answers."""

    def give_up(*_: object) -> None:
        raise TimeoutError(f"no answer within {WATCHDOG_S} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(WATCHDOG_S)
    yield
    signal.alarm(0)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.function.__name__ == "test_case":
        marked = []
        for case in all_cases():
            marks = [pytest.mark.short] if case.short else []
            if case.needs == "gpu":
                marks.append(pytest.mark.gpu)
            marked.append(pytest.param(case, id=case.name, marks=marks))
        metafunc.parametrize("case", marked)
