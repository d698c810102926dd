"""Runs the demo, which scores an agent on the CPU. Checks that its report explains each outcome."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_demo_ends_with_an_explained_report(assay: Run, tmp_path: Path) -> None:
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
