"""Tests the client of fastmcp, over stdio and over HTTP with a token."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_tokens import write_token

HERE = Path(__file__).resolve().parent

VERSION = "4.2.3"
FOLDER = HERE.parent.parent / "build/fastmcp"
INSTALL_S = 600
SESSION_S = 120


@pytest.fixture(scope="module")
def python() -> Path:
    """Returns the Python with fastmcp, which needs packages that the tests do not need otherwise.
    Installs it on first use."""
    python = FOLDER / "bin/python"
    installed = FOLDER / "version"
    if not installed.exists() or installed.read_text() != VERSION:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(FOLDER)], check=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "-q", f"fastmcp=={VERSION}"],
            check=True,
            timeout=INSTALL_S,
        )
        installed.write_text(VERSION)
    return python


def session(python: Path, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [str(python), str(HERE / "fastmcp_session.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=SESSION_S,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def check(seen: dict[str, Any]) -> None:
    assert {"fetch_spec", "compile", "run_tests", "submit"} <= set(seen["tools"])
    assert seen["outcome"] == "pass"
    assert seen["unknown_is_error"]
    assert any(stage.startswith("stage ") for stage in seen["stages"])
    assert seen["templates"] > 0 and seen["guide"]


def test_fastmcp_over_stdio(python: Path, binary: str, tmp_path: Path) -> None:
    store = str(tmp_path / "assay.db")
    check(session(python, binary, "serve", "--stdio", "--device", "fake", "--store", store))


def test_fastmcp_over_http_with_a_token(python: Path, serve: Any, tmp_path: Path) -> None:
    file, secret = write_token(tmp_path, "practice,score")
    with serve("http", "--device", "fake", "--token-file", str(file)) as target:
        check(session(python, target.url, secret))
