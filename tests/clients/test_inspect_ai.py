"""Tests that the agent of Inspect AI can submit to Assay and then end its evaluation. Both actions
are tools with the name `submit` by default, so the page on clients gives the agent's another name."""

from __future__ import annotations

from pathlib import Path

from python_clients import python_with, run_session

VERSION = "0.3.285"
ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_agent_submits_and_ends_its_evaluation(binary: str, tmp_path: Path) -> None:
    python = python_with(f"inspect_ai=={VERSION}", "mcp==2.3.0")
    command = [binary, "serve", "--stdio", "--device", "fake", "--store", str(tmp_path / "a.db")]
    seen = run_session(python, "inspect_ai_session.py", *command)
    assert seen["status"] == "success", seen["error"]
    assert {"finish", "submit", "run_tests", "fetch_spec"} <= set(seen["tools"])
    assert seen["answers"]["submit"].startswith("pass: ")
    assert seen["completion"] == "the kernel passes"
    assert seen["score"] == "C"
    assert seen["limit"] is None


def test_the_page_on_clients_names_the_other_tool() -> None:
    page = (ROOT / "docs/how-to/connect-a-client.md").read_text()
    assert 'submit=AgentSubmit(name="finish")' in page.partition("## Inspect AI")[2]
