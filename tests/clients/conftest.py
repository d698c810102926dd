"""Fixtures that provide the real binary and sessions of the official clients. `ASSAY_BIN` is the
path of the binary, by default build/release/bin/assay."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
for folder in (HERE, ROOT / "measurements"):
    sys.path.insert(0, str(folder))

from assay_server import serving  # noqa: E402
from mcp_sessions import CLIENTS, Client, Session, Target, connect  # noqa: E402

Serve = Callable[..., AbstractContextManager[Target]]
Connect = Callable[[Target], AbstractContextManager[Session]]


@pytest.fixture(scope="session")
def binary() -> str:
    path = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    assert os.access(path, os.X_OK), f"{path} is not built; ./run setup builds it"
    return path


def install(*part: str) -> Path:
    done = subprocess.run(
        [str(ROOT / "tests/node/install.sh"), *part],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=600,
    )
    return Path(done.stdout.strip())


@pytest.fixture(scope="session")
def node_dir() -> Path:
    """Returns the folder with Node.js and the npm packages. Installs them on first use."""
    return install()


@pytest.fixture(scope="session")
def command_lines() -> Path:
    """Returns the folder with the npm packages of the command-line clients. Installs them on first
    use."""
    return install("command_lines")


# The parameters have the scope of `session`, so that all tests of a file with the same client and
# transport run one after the other in one session.
@pytest.fixture(scope="module", params=["stdio", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=CLIENTS, ids=str)
def client(request: pytest.FixtureRequest) -> Client:
    chosen: Client = request.param
    return chosen


@pytest.fixture
def serve(binary: str, tmp_path: Path) -> Serve:
    """Returns a function: `with serve(TRANSPORT, "--device", "fake") as target` starts a server
    with its own store."""

    @contextmanager
    def start(transport: str, *options: str) -> Iterator[Target]:
        with serving(transport, binary, "--store", str(tmp_path / "assay.db"), *options) as target:
            yield target

    return start


@pytest.fixture(scope="module")
def session(
    client: Client,
    transport: str,
    binary: str,
    node_dir: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Session]:
    """Connects a client to a server on the fake device. A test that uses this fixture runs once for
    each client and each transport. The tests of a file share the session, because the start of a
    client takes longer than a test."""
    store = str(tmp_path_factory.mktemp("session") / "assay.db")
    with (
        serving(transport, binary, "--store", store, "--device", "fake") as target,
        connect(client, target, node_dir) as connected,
    ):
        yield connected
