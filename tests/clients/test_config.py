"""Tests `assay serve --print-config`. Checks that docs/how-to/connect-a-client.md shows exactly the
command's output. Also checks that the printed configurations work, as far as that can be tested
without the clients.

`ASSAY_APPROVE=1` rewrites the examples in docs/how-to/connect-a-client.md."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp_sessions import Client, Target, connect
from test_tokens import write_token

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
DOC = ROOT / "docs/how-to/connect-a-client.md"
SHOWN_BINARY = (
    "/home/me/assay/build/release/bin/assay"  # the path in docs/how-to/connect-a-client.md
)
EXAMPLE = re.compile(r"<!-- assay (serve .*?) -->\n```(\w+)\n(.*?)```\n", re.DOTALL)
CLIENTS = (
    "claude-code",
    "cline",
    "codex",
    "cursor",
    "gemini",
    "jetbrains",
    "json",
    "python",
    "typescript",
    "vscode",
    "windsurf",
    "zed",
)
ONLY_STDIO = ("claude-desktop",)
FILES = {
    "claude-code": ("json", "mcpServers"),
    "cline": ("json", "mcpServers"),
    "codex": ("toml", "mcp_servers"),
    "cursor": ("json", "mcpServers"),
    "gemini": ("json", "mcpServers"),
    "jetbrains": ("json", "mcpServers"),
    "json": ("json", "mcpServers"),
    "vscode": ("json", "servers"),
    "windsurf": ("json", "mcpServers"),
    "zed": ("json", "context_servers"),
}


def url_of(server: dict[str, Any]) -> str:
    """Returns the URL in the entry of a server. Each client has a name of its own for it."""
    return str(server.get("httpUrl", server.get("serverUrl", server.get("url"))))


def clean_environment() -> dict[str, str]:
    """Returns the environment without the variables that would be written into a configuration."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("ASSAY_", "XDG_STATE_HOME"))
    }


def printed(binary: str, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [binary, "serve", *options],
        capture_output=True,
        text=True,
        timeout=120,
        env={**clean_environment(), "ASSAY_ROOT": "", **env},
    )


def server_of(client: str, text: str) -> dict[str, Any]:
    """Returns the entry for Assay in the text of a client's configuration file."""
    form, key = FILES[client]
    server: dict[str, Any] = (json.loads(text) if form == "json" else tomllib.loads(text))[key][
        "assay"
    ]
    return server


def test_the_document_shows_what_is_printed(binary: str) -> None:
    shown = DOC.read_text()

    def again(match: re.Match[str]) -> str:
        command, form, _ = match.groups()
        done = printed(binary, *command.split()[1:])
        assert done.returncode == 0, done.stderr
        return (
            f"<!-- assay {command} -->\n```{form}\n{done.stdout.replace(binary, SHOWN_BINARY)}```\n"
        )

    commands = [command for command, _, _ in EXAMPLE.findall(shown)]
    for client in CLIENTS:
        assert sum(f"--print-config {client}" in command for command in commands) >= 2, (
            f"{client} needs an example for stdio and for HTTP"
        )
    for client in ONLY_STDIO:
        assert sum(f"--print-config {client}" in command for command in commands) == 1
    expected = EXAMPLE.sub(again, shown)
    if os.environ.get("ASSAY_APPROVE") == "1":
        DOC.write_text(expected)
    assert shown == expected, (
        "docs/how-to/connect-a-client.md is not what the command prints; ASSAY_APPROVE=1 rewrites it"
    )


@pytest.mark.parametrize("client", FILES)
def test_the_printed_command_serves(
    client: str, binary: str, tmp_path: Path, node_dir: Path
) -> None:
    done = printed(
        binary, "--print-config", client, "--device", "fake", "--store", str(tmp_path / "a b.db")
    )
    assert done.returncode == 0 and done.stderr.startswith("for "), done.stderr
    server = server_of(client, done.stdout)
    assert server["args"] == [
        "serve",
        "--stdio",
        "--device",
        "fake",
        "--store",
        str(tmp_path / "a b.db"),
    ]
    target = Target(command=(server["command"], *server["args"]))
    with connect(Client("typescript_v1", "legacy"), target, node_dir) as session:
        assert "fetch_spec" in [tool["name"] for tool in session.request("listTools", {})["tools"]]


def test_the_printed_programs_run(binary: str, tmp_path: Path, node_dir: Path) -> None:
    store = str(tmp_path / "assay.db")
    for client, interpreter in (
        ("python", [sys.executable, "-c"]),
        ("typescript", [str(node_dir / "node_modules/.bin/node"), "example.mjs"]),
    ):
        program = printed(
            binary, "--print-config", client, "--device", "fake", "--store", store
        ).stdout
        if client == "typescript":  # Node.js searches packages in the folder of the program
            (node_dir / "example.mjs").write_text(program)
            program = ""
        done = subprocess.run(
            [*interpreter, program],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=node_dir,
            env=clean_environment(),
        )
        assert done.returncode == 0, done.stderr
        assert "fetch_spec" in done.stdout


@pytest.mark.parametrize("client", FILES)
def test_the_url_and_the_variables_are_those_given(client: str, binary: str) -> None:
    done = printed(binary, "--print-config", client, "--http", "[::1]:8700")
    server = server_of(client, done.stdout)
    assert url_of(server) == "http://[::1]:8700/mcp"
    options = (
        "--http",
        "0.0.0.0:8700",
        "--allow-host",
        "gpu.example",
        "--tls-cert",
        "cert.pem",
        "--tls-key",
        "key.pem",
    )
    named = server_of(client, printed(binary, "--print-config", client, *options).stdout)
    assert url_of(named) == "https://gpu.example:8700/mcp"
    limits = ["--gpu-jobs", "31", "--judges", "7", "--gpu-sharers", "13"]
    assert (
        server_of(client, printed(binary, "--print-config", client, *limits).stdout)["args"][
            -len(limits) :
        ]
        == limits
    )
    variables = {"ASSAY_PYTHON": "/opt/python", "ASSAY_STATE_DIR": "/var/lib/assay"}
    assert (
        server_of(client, printed(binary, "--print-config", client, **variables).stdout)["env"]
        == variables
    )
    by_name = printed(binary, "--print-config", client, ASSAY_PYTHON="python3").stdout
    assert server_of(client, by_name)["env"]["ASSAY_PYTHON"] == shutil.which("python3")


def test_what_cannot_be_printed(binary: str) -> None:
    unknown = printed(binary, "--print-config", "emacs")
    assert (unknown.returncode, unknown.stdout) == (67, "")
    for client in CLIENTS:
        assert client in unknown.stderr
    everywhere = printed(binary, "--print-config", "codex", "--http", "0.0.0.0:8700")
    assert (everywhere.returncode, everywhere.stdout) == (
        64,
        "",
    ) and "--allow-host" in everywhere.stderr
    no_port = printed(binary, "--print-config", "codex", "--http", "127.0.0.1:0")
    assert (no_port.returncode, no_port.stdout) == (64, "") and "port" in no_port.stderr


def test_the_printed_programs_send_the_token(
    binary: str, tmp_path: Path, node_dir: Path, serve: Any
) -> None:
    path, secret = write_token(tmp_path, "practice")
    node = str(node_dir / "node_modules/.bin/node")
    with serve("http", "--device", "fake", "--token-file", str(path)) as target:
        address = target.url.removeprefix("http://").removesuffix("/mcp")
        for client, interpreter in (
            ("python", [sys.executable, "-c"]),
            ("typescript", [node, "example.mjs"]),
        ):
            program = printed(
                binary, "--print-config", client, "--http", address, "--token-file", str(path)
            ).stdout
            if client == "typescript":
                (node_dir / "example.mjs").write_text(program)
                program = ""
            with_token = {**clean_environment(), "ASSAY_TOKEN": secret}
            done = subprocess.run(
                [*interpreter, program],
                capture_output=True,
                text=True,
                timeout=60,
                cwd=node_dir,
                env=with_token,
            )
            assert done.returncode == 0 and "fetch_spec" in done.stdout, done.stderr


@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_with_an_identity_provider_needs_no_token_in_the_configuration(
    client: str, binary: str
) -> None:
    options = ["--http", "0.0.0.0:8700", "--oauth-issuer", "https://id.example"]
    options += ["--public-url", "https://assay.example/team/mcp", "--token-file", "tokens"]
    done = printed(binary, "--print-config", client, *options)
    assert done.returncode == 0, done.stderr
    assert "https://assay.example/team/mcp" in done.stdout
    assert "TOKEN" not in done.stdout and "Authorization" not in done.stdout


def test_a_file_gets_the_configuration_and_keeps_its_other_servers(
    binary: str, tmp_path: Path
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"other": {"command": "other"}}, "setting": true}')
    options = ("--print-config", "cursor", "--config-file", str(file))
    done = printed(binary, *options)
    assert (done.returncode, done.stdout) == (0, "") and str(file) in done.stderr
    merged = json.loads(file.read_text())
    assert merged["setting"] is True and merged["mcpServers"]["other"] == {"command": "other"}
    assert merged["mcpServers"]["assay"]["args"] == ["serve", "--stdio", "--device", "auto"]
    before = file.stat().st_mtime_ns
    assert "has this configuration already" in printed(binary, *options).stderr
    assert file.stat().st_mtime_ns == before
    file.write_text("{ // mine\n}")
    refused = printed(binary, *options)
    assert refused.returncode == 65 and "comments" in refused.stderr
    assert file.read_text() == "{ // mine\n}"
    toml = tmp_path / "config.toml"
    toml.write_text('model = "m"  # mine\n')
    assert printed(binary, "--print-config", "codex", "--config-file", str(toml)).returncode == 0
    assert toml.read_text().startswith('model = "m"  # mine\n')
    assert tomllib.loads(toml.read_text())["mcp_servers"]["assay"]["command"] == binary
    program = printed(binary, "--print-config", "python", "--config-file", str(toml))
    assert program.returncode == 64
    alone = printed(binary, "--config-file", str(file))
    assert alone.returncode == 64 and "--print-config" in alone.stderr
    desktop = printed(binary, "--print-config", "claude-desktop", "--http", "127.0.0.1:8700")
    assert desktop.returncode == 64 and "--http" in desktop.stderr
