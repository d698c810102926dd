"""Tests the client of fastmcp, over stdio and over HTTP with a token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from python_clients import python_with, run_session
from test_tokens import write_token

VERSION = "4.2.3"


@pytest.fixture(scope="module")
def python() -> Path:
    return python_with(f"fastmcp=={VERSION}")


def check(seen: dict[str, Any]) -> None:
    assert {"fetch_spec", "compile", "run_tests", "submit"} <= set(seen["tools"])
    assert seen["outcome"] == "pass"
    assert seen["unknown_is_error"]
    assert any(stage.startswith("stage ") for stage in seen["stages"])
    assert seen["templates"] > 0 and seen["guide"]


def test_fastmcp_over_stdio(python: Path, binary: str, tmp_path: Path) -> None:
    command = [binary, "serve", "--stdio", "--device", "fake", "--store", str(tmp_path / "a.db")]
    check(run_session(python, "fastmcp_session.py", *command))


def test_fastmcp_over_http_with_a_token(python: Path, serve: Any, tmp_path: Path) -> None:
    file, secret = write_token(tmp_path, "practice,score")
    with serve("http", "--device", "fake", "--token-file", str(file)) as target:
        check(run_session(python, "fastmcp_session.py", target.url, secret))
