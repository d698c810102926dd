"""Tests that the real Claude Code logs in at an identity provider and then connects. It registers
itself there, prints the URL of the login instead of opening a browser, and takes the URL to which
the login redirects. It asks for both on a terminal, so the test gives it one."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from pathlib import Path
from typing import Any

from identity_provider import guarded, identity_provider
from oauth_login import redirected
from test_command_lines import Profile, profile  # noqa: F401
from test_config import printed

LOGIN_S = 60
ROWS, COLUMNS = 50, 4000  # Claude Code must not break the URL into lines
URL = rb"(http://127[^\s\x07\x1b]+/auth\?[^\s\x07\x1b]+)[\s\x07\x1b]"


def log_in(profile: Profile) -> str:  # noqa: F811
    """Runs Claude Code's login on a terminal. Returns what it printed."""
    terminal, other_end = pty.openpty()
    fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        ["claude", "mcp", "login", "--no-browser", "assay"],
        cwd=profile.project,
        env=profile.environment,
        stdin=other_end,
        stdout=other_end,
        stderr=other_end,
        start_new_session=True,
    )
    os.close(other_end)
    shown = b""
    answered = False
    deadline = time.monotonic() + LOGIN_S
    try:
        while time.monotonic() < deadline:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the process has closed the terminal
                break
            found = re.search(URL, shown)
            if found and not answered:
                answered = True
                os.write(terminal, redirected(found[1].decode()).encode() + b"\r")
        assert process.wait(10) == 0, shown.decode(errors="replace")
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    return shown.decode(errors="replace")


def test_claude_code_logs_in_at_the_identity_provider(
    binary: str,
    profile: Profile,  # noqa: F811
    node_dir: Path,
    tmp_path: Path,
) -> None:
    with (
        identity_provider(node_dir) as provider,
        guarded(binary, tmp_path / "assay.db", provider) as target,
    ):
        address = target.url.removeprefix("http://").removesuffix("/mcp")
        options: list[Any] = ["--http", address, "--oauth-issuer", provider.issuer]
        said = printed(binary, "--print-config", "claude-code", *options)
        assert "Authorization" not in said.stdout + said.stderr
        _, _, command = said.stderr.strip().partition("or: ")
        profile.run(["sh", "-c", command])
        assert "Needs authentication" in profile.run(["claude", "mcp", "list"])
        assert "Authenticated" in log_in(profile)
        assert "Connected" in profile.run(["claude", "mcp", "list"])
