"""Runs the commands from README.md and the example's README that use a model. Replaces only the
address of the model's endpoint."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from llm_endpoint import Endpoint

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
EXAMPLE = ROOT / "reference_agents/examples/README.md"
PRINTED_URL = "http://localhost:8000/v1"


def commands(document: Path, word: str) -> list[str]:
    """Returns the commands that contain `word`, from a document's shell blocks. A backslash at the
    end of a line continues the command."""
    blocks = re.findall(
        r"^```sh\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    lines = [line for block in blocks for line in re.sub(r"\\\n\s*", "", block).splitlines()]
    return [line for line in lines if word in line]


@pytest.fixture
def checkout(binary: str, tmp_path: Path) -> Path:
    """Returns a folder that looks like a built clone. The commands write their files to it."""
    (tmp_path / "build/release/bin").mkdir(parents=True)
    (tmp_path / "build/release/bin/assay").symlink_to(binary)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    python = tmp_path / ".venv/bin/python"
    # A script starts the interpreter. A symbolic link would not do, because the interpreter would
    # not find its packages.
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    (tmp_path / "reference_agents").symlink_to(ROOT / "reference_agents")
    return tmp_path


def shell(checkout: Path, text: str) -> subprocess.CompletedProcess[str]:
    unwanted = ("ASSAY_LLM_", "ANTHROPIC_")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(unwanted)
    }
    environment |= {
        "ASSAY_ROOT": str(ROOT),
        "ASSAY_STATE_DIR": str(checkout / "state"),
        "NO_PROXY": "127.0.0.1",
    }
    environment.setdefault("ASSAY_PYTHON", str(ROOT / ".venv/bin/python"))
    return subprocess.run(
        ["bash", "-ec", text],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )


def oracle(name: str) -> str:
    return (ROOT / f"operators/standard/{name}/oracle.py").read_text(encoding="utf-8")


def test_any_openai_compatible_endpoint(checkout: Path) -> None:
    (line,) = commands(README, "openai-compatible:")
    assert line.count(PRINTED_URL) == 1
    with Endpoint() as endpoint:
        endpoint.answers = {name: oracle(name) for name in ("vector_add", "relu")}
        done = shell(checkout, line.replace(PRINTED_URL, endpoint.url))
        assert done.returncode == 0, done.stderr
        assert endpoint.models == {"my-model"} and endpoint.keys == {""}
    assert (
        "openai-compatible:my-model" in done.stdout
        and "(2 of 2;" in done.stdout
        and "200 in, 20 out" in done.stdout
    )


def test_anthropic(checkout: Path) -> None:
    (line,) = commands(README, "anthropic:")
    assert line.startswith("ANTHROPIC_API_KEY=... ")
    done = shell(checkout, line.removeprefix("ANTHROPIC_API_KEY=... "))
    assert done.returncode == 77 and "ANTHROPIC_API_KEY" in done.stderr
    model = re.search(r"anthropic:\S+", line)
    assert model and f'"{model[0]}"' in (ROOT / "reference_agents/llm/prices.toml").read_text(
        encoding="utf-8"
    )


def test_an_agent_of_ones_own(checkout: Path) -> None:
    lines = [
        *commands(EXAMPLE, "export"),
        *commands(EXAMPLE, "external_agent.py"),
        *commands(EXAMPLE, "assay report"),
    ]
    assert len(lines) == 3 and lines[0].count(PRINTED_URL) == 1
    with Endpoint() as endpoint:
        endpoint.answers = {name: oracle(name) for name in ("vector_add", "softmax_last_dim")}
        done = shell(checkout, "\n".join(lines).replace(PRINTED_URL, endpoint.url))
    assert done.returncode == 0, done.stderr
    assert (
        "Pass@1 100 %: 2 of 2 operators pass" in done.stdout
        and "agent external, model my-model, track one_shot, device cpu" in done.stdout
    )
