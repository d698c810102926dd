"""Fixtures of the suite of cheats. The suite sends every case to one real server through the
server's public tools. Then it sends a control, which is an honest submission that must pass.

pytest tests/cheats -m "not gpu"          on the CPU device; part of ./run test
pytest tests/cheats -m gpu                on ASSAY_DEVICE (default cuda:0); part of ./run gpu-test
ASSAY_CHEATS_RESULTS=FILE                 writes the verdicts to FILE, for cheat_table.py
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

from cheat_file import DEVICES, cheats, honest_ones  # noqa: E402
from cheat_server import RUN_WALL_MS, CheatServer, Results  # noqa: E402
from environment import environment  # noqa: E402

WATCHDOG_S = 600
# On the host tier of a cold GPU, the first candidates load torch's kernels and compile for longer than
# other cases may take.
HOST_TIER_WALL_MS = 45_000


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gpu: needs a GPU: ASSAY_DEVICE, else cuda:0")


def _is_whole(device: str, before: dict[str, Any], seen: Results) -> bool:
    """Returns whether every case of the device has a new verdict."""
    now = seen.get(device, {})
    due = [case.name for case in cheats() if case.expected_on(device) is not None]
    return all(name in now and now[name] is not before.get(name) for name in due)


@pytest.fixture(scope="session")
def results() -> Iterator[Results]:
    """Collects the verdicts by device and by the name of the case."""
    path = os.environ.get("ASSAY_CHEATS_RESULTS")
    seen: Results = json.loads(Path(path).read_text()) if path and Path(path).exists() else {}
    before = {device: dict(seen.get(device, {})) for device in DEVICES}
    yield seen
    if path:
        ran = [device for device in DEVICES if _is_whole(device, before[device], seen)]
        seen.setdefault("environment", {}).update({device: environment() for device in ran})
        Path(path).write_text(json.dumps(seen, indent=1, sort_keys=True) + "\n")


def _server(
    device: str, folder: Path, *options: str, run_wall_ms: int = RUN_WALL_MS
) -> Iterator[CheatServer]:
    binary = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    assert os.access(binary, os.X_OK), f"{binary} is not built; ./run setup builds it"
    server = CheatServer(binary, device, folder, *options, run_wall_ms=run_wall_ms)
    try:
        yield server
    finally:
        status = server.close()
    assert status == 0, f"the server ended with status {status}"


@pytest.fixture(scope="session")
def cpu_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheatServer]:
    yield from _server("cpu", tmp_path_factory.mktemp("cheats"))


@pytest.fixture(scope="session")
def gpu_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheatServer]:
    if not os.path.exists("/dev/nvidiactl"):
        pytest.skip("needs a GPU")
    yield from _server(
        os.environ.get("ASSAY_DEVICE", "cuda:0"),
        tmp_path_factory.mktemp("cheats"),
        "--no-host-tier",
    )


@pytest.fixture(scope="session")
def host_tier_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheatServer]:
    if not os.path.exists("/dev/nvidiactl"):
        pytest.skip("needs a GPU")
    yield from _server(
        os.environ.get("ASSAY_DEVICE", "cuda:0"),
        tmp_path_factory.mktemp("host_tier"),
        run_wall_ms=HOST_TIER_WALL_MS,
    )


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
    name = metafunc.function.__name__
    if "case" not in metafunc.fixturenames:
        return
    honest = "honest" in name
    cases = honest_ones() if honest else cheats()
    if honest and name.endswith("on_the_gpu"):
        cases = [case for case in cases if not case.refused]
    elif name.endswith("on_the_cpu"):
        cases = [case for case in cases if case.device == "cpu"]
    elif name.endswith("on_the_gpu"):
        cases = [case for case in cases if case.expected_on("gpu") is not None]
    elif name.endswith("on_the_host_tier"):
        cases = [
            case
            for case in cases
            if case.on_gpu is not None and case.on_gpu.kinds == ("not_recordable",)
        ]
    elif name.endswith("without_a_gpu"):
        cases = [case for case in cases if case.device == "gpu"]
    metafunc.parametrize("case", [pytest.param(case, id=case.name) for case in cases])
