"""Runs the demo, and the scripted agent, on the CPU. Checks that each outcome is explained."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from stdio_client import StdioClient
from tool_calls import verdict_of

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


def test_demo_refuses_a_cheat_and_contains_an_escape(assay: Run, tmp_path: Path) -> None:
    out = tmp_path / "demo"
    done = assay("demo", "--device", "cpu", "--out", str(out), timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines if line.startswith("  ")), done.stdout
    words = [line[2:11].strip() for line in lines if line.startswith("  ") and line[2] != " "]
    assert words == ["PASS", "PASS", "SLOW", "WRONG", "NO BUILD", "REFUSED", "CONTAINED"]
    assert "\033" not in done.stdout  # colours are for terminals
    page = (out / "report.html").read_text(encoding="utf-8")
    assert str(out / "report.html") in done.stdout
    assert "softmax_last_dim" in page and "matmul_fp16" in page


def test_an_attempt_that_gets_out_is_not_called_contained(cpu_server: StdioClient) -> None:
    """The source of the demo's attempt, changed so that it can reach a file."""
    source = (ROOT / "server/commands/demo/escape.py").read_text(encoding="utf-8")
    assert '"/root/.ssh"' in source
    attempt = source.replace('"/root/.ssh"', '"/proc/self/status"')
    verdict = verdict_of(cpu_server, "run_tests", {"operator": "vector_add", "code": attempt})
    assert verdict["outcome"] == "error", verdict["text"]
    assert "RuntimeError: reached /proc/self/status" in verdict["text"]


def test_the_scripted_agents_report_is_explained(assay: Run, tmp_path: Path) -> None:
    store = str(tmp_path / "assay.db")
    out = str(tmp_path / "out")
    done = assay(
        "bench",
        "--agent",
        "one_shot",
        "--model",
        "scripted:demo",
        "--device",
        "cpu",
        "--jobs",
        "2",
        "--store",
        store,
        "--out",
        out,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for word in ("scripted", "pass@1", "vector_add", "would be slow"):
        assert word in done.stdout, done.stdout
    report = assay("report", "--store", store, "--format", "json")
    assert report.returncode == 0, report.stderr
    data = json.loads(report.stdout)
    operators = data["operators"] if "operators" in data else data["runs"][0]["operators"]
    assert len(operators) == 16
    outcomes = [entry["outcome"] for entry in operators]
    assert outcomes.count("pass") >= 8
    assert outcomes.count("fail") >= 2
    kinds = {entry["error_kind"] for entry in operators}
    assert {"syntax_error", "compilation_error", "wrong_result", "unsupported"} <= kinds
    csv = assay("report", "--store", store, "--format", "csv")
    assert len(csv.stdout.strip().splitlines()) == 17
    # A transcript contains every prompt, reply and call. No prompt contains an oracle.
    transcripts = list(Path(out).rglob("*.jsonl"))
    assert transcripts
