"""Tests bearer tokens with the official clients. Checks that a client with a valid token can do a
whole scored run, that a client with an invalid token is refused, and that a token's scopes limit
the tools."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp_sessions import CLIENTS, Client, McpError, connect
from test_scored_run import PASSES, scored_run


def write_token(folder: Path, scopes: str) -> tuple[Path, str]:
    """Writes a token file as docs/how-to/connect-a-client.md describes it. Returns the file's path
    and the secret. The file contains only the hash of the secret."""
    secret = secrets.token_hex(16)
    path = folder / "tokens"
    path.write_text(
        f"# of this test\n\ntester {scopes} sha256:{hashlib.sha256(secret.encode()).hexdigest()}\n"
    )
    path.chmod(0o600)
    return path, secret


@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_the_right_token(client: Client, serve: Any, node_dir: Path, tmp_path: Path) -> None:
    path, secret = write_token(tmp_path, "practice,score")
    with serve("http", "--device", "fake", "--token-file", str(path)) as target:
        with connect(client, replace(target, token=secret), node_dir) as session:
            scored_run(session, PASSES.format(name="vector_add"), times=True)


@pytest.mark.parametrize("client", [CLIENTS[0], CLIENTS[2], CLIENTS[5]], ids=str)
def test_a_wrong_token_and_none(client: Client, serve: Any, node_dir: Path, tmp_path: Path) -> None:
    path, secret = write_token(tmp_path, "practice,score")
    with serve("http", "--device", "fake", "--token-file", str(path)) as target:
        for token in ("", secret[:-1] + "x"):
            with pytest.raises(McpError):
                with connect(client, replace(target, token=token), node_dir):
                    pass


@pytest.mark.parametrize("client", [CLIENTS[0], CLIENTS[5]], ids=str)
def test_a_token_for_practice_scores_nothing(
    client: Client, serve: Any, node_dir: Path, tmp_path: Path
) -> None:
    path, secret = write_token(tmp_path, "practice")
    with serve("http", "--device", "fake", "--token-file", str(path)) as target:
        with connect(client, replace(target, token=secret), node_dir) as session:
            tested = session.call(
                "run_tests", {"operator": "vector_add", "code": PASSES.format(name="vector_add")}
            )
            assert tested["structuredContent"]["outcome"] == "pass"
            refused = session.call("start_run", {"agent": "a", "model": "m", "track": "iterative"})
            assert refused["isError"] and "score" in refused["content"][0]["text"], refused
