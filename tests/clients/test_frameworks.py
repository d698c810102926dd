"""Tests that agent frameworks can use a server over stdio through the tools that they make of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_clients import python_with, run_session

VERSIONS = {
    "langchain-mcp-adapters": "0.3.2",
    "openai-agents": "0.24.0",
    "pydantic-ai-slim": "2.68.0",
}
# The framework's name for framework_session.py, its package, and what else has to be installed.
FRAMEWORKS = (
    ("langchain", "langchain-mcp-adapters", ""),
    ("openai", "openai-agents", ""),
    ("pydantic", "pydantic-ai-slim", "pydantic-ai-slim[mcp]"),
)


@pytest.mark.parametrize(("framework", "package", "extra"), FRAMEWORKS)
def test_the_tools_of_a_framework(
    framework: str, package: str, extra: str, binary: str, tmp_path: Path
) -> None:
    python = python_with(f"{package}=={VERSIONS[package]}", *([extra] if extra else []))
    command = [binary, "serve", "--stdio", "--device", "fake", "--store", str(tmp_path / "a.db")]
    seen = run_session(python, "framework_session.py", framework, *command)
    assert {"fetch_spec", "compile", "run_tests", "submit"} <= set(seen["tools"])
    # PydanticAI gives its model the structured content, and the others give the text.
    structured = framework == "pydantic"
    assert ("'strict_pass': True" if structured else "pass: 6 of 6 cases pass") in seen["passed"]
    # The model learns what is wrong with its call, so that it can mend it.
    assert "unknown operator 'none'" in seen["unknown"]
