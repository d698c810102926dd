"""Gives the printed configurations to the real command-line clients: Claude Code, Codex and Gemini
CLI. Each client runs offline with a new home folder. The tests check that the client takes the
configuration, that it connects, and that it writes no token into a file."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from test_config import printed
from test_tokens import write_token

TIMEOUT_S = 120


@dataclass
class Profile:
    """A new home folder with a project in it, and an environment that uses them."""

    home: Path
    project: Path
    environment: dict[str, str]

    def run(self, command: list[str]) -> str:
        """Runs a command in the project. Returns what it prints."""
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=TIMEOUT_S,
        )
        assert done.returncode == 0, f"{shlex.join(command)}: {done.stdout}"
        return done.stdout

    def holds(self, secret: str) -> list[Path]:
        """Returns the files below the home folder that contain the secret."""
        files = [path for path in self.home.rglob("*") if path.is_file()]
        return [path for path in files if secret.encode() in path.read_bytes()]


@pytest.fixture
def profile(tmp_path: Path, node_dir: Path, command_lines: Path) -> Profile:
    project = tmp_path / "home/project"
    project.mkdir(parents=True)
    folders = [command_lines / "node_modules/.bin", node_dir / "node_modules/.bin"]
    environment = {
        "HOME": str(tmp_path / "home"),
        "PATH": os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"]),
        "DISABLE_AUTOUPDATER": "1",
    }
    return Profile(tmp_path / "home", project, environment)


def server_options(tmp_path: Path) -> dict[str, str]:
    """Returns variables that the printed configuration must contain, one with a space."""
    (tmp_path / "state of it").mkdir()
    return {"ASSAY_STATE_DIR": str(tmp_path / "state of it")}


def test_claude_code_takes_the_printed_command(
    binary: str, profile: Profile, tmp_path: Path
) -> None:
    said = printed(
        binary, "--print-config", "claude-code", "--device", "fake", **server_options(tmp_path)
    )
    _, _, command = said.stderr.strip().partition("or: ")
    assert "--env" in command, said.stderr
    profile.run(["sh", "-c", command])
    assert "Connected" in profile.run(["claude", "mcp", "list"])


def test_claude_code_expands_the_token_and_does_not_keep_it(
    binary: str, profile: Profile, tmp_path: Path, serve: Any
) -> None:
    path, secret = write_token(tmp_path, "practice")
    profile.environment["ASSAY_TOKEN"] = secret
    with serve("http", "--device", "fake", "--token-file", str(path)) as target:
        address = target.url.removeprefix("http://").removesuffix("/mcp")
        options = ["--http", address, "--token-file", str(path)]
        said = printed(binary, "--print-config", "claude-code", *options)
        _, _, command = said.stderr.strip().partition("or: ")
        profile.run(["sh", "-c", command])
        assert "Connected" in profile.run(["claude", "mcp", "list"])
        assert not profile.holds(secret)
        del profile.environment["ASSAY_TOKEN"]
        assert "Connected" not in profile.run(["claude", "mcp", "list"])


def test_claude_code_asks_before_it_uses_the_file_of_a_project(
    binary: str, profile: Profile, tmp_path: Path
) -> None:
    said = printed(
        binary, "--print-config", "claude-code", "--device", "fake", **server_options(tmp_path)
    )
    (profile.project / ".mcp.json").write_text(said.stdout)
    assert "Pending approval" in profile.run(["claude", "mcp", "list"])


def test_codex_takes_the_printed_file(binary: str, profile: Profile, tmp_path: Path) -> None:
    settings = profile.home / ".codex/config.toml"
    settings.parent.mkdir()
    variables = server_options(tmp_path)
    said = printed(binary, "--print-config", "codex", "--device", "fake", **variables)
    settings.write_text(said.stdout)
    transport = codex_transport(profile)
    assert transport["command"] == binary and transport["env"] == variables
    options = ["--http", "127.0.0.1:8700", "--token-file", "tokens"]
    settings.write_text(printed(binary, "--print-config", "codex", *options).stdout)
    transport = codex_transport(profile)
    assert transport["url"] == "http://127.0.0.1:8700/mcp"
    assert transport["bearer_token_env_var"] == "ASSAY_TOKEN"


def codex_transport(profile: Profile) -> dict[str, Any]:
    """Returns the transport of the server that Codex lists."""
    text = profile.run(["codex", "mcp", "list", "--json"])
    (server,) = json.loads(text[text.index("[\n") :])
    assert server["name"] == "assay" and server["enabled"]
    transport: dict[str, Any] = server["transport"]
    return transport


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_gemini_connects_in_a_trusted_folder(
    transport: str, binary: str, profile: Profile, tmp_path: Path, serve: Any
) -> None:
    settings = profile.home / ".gemini/settings.json"
    settings.parent.mkdir()
    path, secret = write_token(tmp_path, "practice")
    profile.environment["ASSAY_TOKEN"] = secret
    with serve("http", "--device", "fake", "--token-file", str(path)) as target:
        address = target.url.removeprefix("http://").removesuffix("/mcp")
        options = ["--http", address, "--token-file", str(path)]
        if transport == "stdio":
            options = ["--device", "fake"]
        said = printed(binary, "--print-config", "gemini", *options, **server_options(tmp_path))
        settings.write_text(said.stdout)
        assert "Disabled" in profile.run(["gemini", "mcp", "list"])
        trusted = {str(profile.project): "TRUST_FOLDER"}
        (settings.parent / "trustedFolders.json").write_text(json.dumps(trusted))
        assert "Connected" in profile.run(["gemini", "mcp", "list"])
    assert not profile.holds(secret)
