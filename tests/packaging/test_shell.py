"""Tests the completion of the command line in bash, zsh and fish, and the manual page. The program
prints them from its own table of commands, and packages install them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))

BASH = """
source "$1"; shift
COMP_WORDS=(assay "$@"); COMP_CWORD=$#
_assay
printf '%s\\n' "${COMPREPLY[@]}"
"""
# Outside of a completion, zsh has none of the functions that offer words.
ZSH = """
compdef() { : }
_describe() { local name=$@[-1]; print -rl -- ${(P)name%%:*} }
_files() { print -rl -- *(N) }
compadd() { shift; print -rl -- $@ }
source $1; shift
words=(assay "$@"); CURRENT=$#words
_assay
"""


def printed(*words: str) -> str:
    done = subprocess.run([BINARY, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("completions")
    for shell in ("bash", "zsh", "fish"):
        (folder / shell).write_text(printed("completion", shell))
    (folder / "here").mkdir()
    (folder / "here/kernel.py").touch()
    return folder


def offered(scripts: Path, shell: str, *words: str) -> set[str]:
    """Returns what the shell offers for the last of the words."""
    script = str(scripts / shell)
    if shell == "fish":
        line = " ".join(["assay", *words])
        command = ["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"]
    else:
        source = BASH if shell == "bash" else ZSH
        options = ["--norc"] if shell == "bash" else ["-f"]
        command = [shell, *options, "-c", source, shell, script, *words]
    done = subprocess.run(
        command, cwd=scripts / "here", capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    found = {line.split("\t")[0] for line in done.stdout.splitlines()}
    return {word for word in found if word.startswith(words[-1])}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_options_values_and_files(scripts: Path, shell: str) -> None:
    complete: Callable[..., set[str]] = lambda *words: offered(scripts, shell, *words)  # noqa: E731
    assert {"serve", "export", "completion"} <= complete("")
    assert complete("export", "dat") == {"dataset"}
    assert complete("export", "dataset", "--sou") == {"--sources"}
    assert complete("export", "dataset", "--sources", "") == {"models", "all"}
    assert complete("export", "dataset", "--redact", "ker") == {"kernel.py"}
    assert "--device" in complete("demo", "--")
    assert "--sources" not in complete("demo", "--")
    assert complete("eval", "vector_add", "ker") == {"kernel.py"}


def test_the_manual_page_has_every_command_and_option(scripts: Path) -> None:
    page = scripts / "assay.1"
    page.write_text(printed("man-page"))
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "error", page], capture_output=True)
    assert lint.returncode == 0, lint.stdout
    shown = subprocess.run(
        ["mandoc", "-T", "ascii", page], capture_output=True, text=True, check=True
    )
    text = re.sub(r".\x08", "", shown.stdout)
    synopsis = (ROOT / "docs/reference/cli.md").read_text().split("```\nassay ")[1].split("```")[0]
    for option in set(re.findall(r"--[a-z][a-z-]*", synopsis)) - {"--version"}:
        assert re.search(rf"{option}\b", text), option
    for command in re.findall(r"^(?:assay )?(export \w+|serve|check|completion)", synopsis, re.M):
        assert f"assay {command}" in text, command
    for part in ("EXIT STATUS", "ENVIRONMENT", "FILES", "ASSAY_CONFIG"):
        assert part in text


def test_an_unknown_shell_is_named(scripts: Path) -> None:
    done = subprocess.run([BINARY, "completion", "csh"], capture_output=True, text=True)
    assert done.returncode == 64 and "bash" in done.stderr and "fish" in done.stderr
