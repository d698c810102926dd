"""Fixtures for the tests of the HTTP interface /v1 and of the Python package. One server on the fake
device serves a whole file of tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("tests/e2e", "examples", "python"):
    sys.path.insert(0, str(ROOT / folder))

import assay  # noqa: E402
from http_serving import Server, new_token, serving  # noqa: E402

FAST = assay.Retry(attempts=3, first_pause_s=0.01, longest_pause_s=0.05)


@pytest.fixture(scope="session")
def binary() -> str:
    path = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    assert os.access(path, os.X_OK), f"{path} is not built; ./run setup builds it"
    return path


@pytest.fixture(scope="module")
def server(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(binary, tmp_path_factory.mktemp("fake")) as running:
        yield running


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}"


@pytest.fixture
def client(url: str) -> Iterator[assay.Client]:
    with assay.Client(url, retry=FAST) as made:
        yield made


class Tokens:
    """A server with the tokens alice (practice) and bob (practice and score)."""

    def __init__(self, url: str, secrets: dict[str, str]) -> None:
        self.url = url
        self.secrets = secrets


@pytest.fixture(scope="module")
def tokens(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tokens]:
    folder = tmp_path_factory.mktemp("tokens")
    file = folder / "tokens.txt"
    secrets = {
        "alice": new_token(binary, file, "alice", "practice"),
        "bob": new_token(binary, file, "bob", "practice", "score"),
    }
    options = ["--token-file", str(file)]
    with serving(binary, folder, *options) as running:
        yield Tokens(f"http://127.0.0.1:{running.port}", secrets)
