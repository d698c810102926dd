"""Checks that a grade on a GPU shows two times of PyTorch beside the submission's time. The grade
measures the time of eager mode in the same series. `assay operators compiled` measures the time of
torch.compile before the grade."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from stdio_client import StdioClient, serve_command
from tool_calls import verdict_of

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).resolve().parent.parent.parent
OPERATOR = "softmax_last_dim"


def test_a_grade_shows_the_time_of_torch_compile(tmp_path: Path) -> None:
    binary = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
    environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state")}
    command = [binary, "operators", "compiled", OPERATOR, "--device", "cuda:0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and " us" in done.stdout, done.stdout + done.stderr
    client = StdioClient(serve_command(binary, "cuda:0", tmp_path / "assay.db"), environment)
    try:
        run = client.call("start_run", {"agent": "test", "model": "none", "track": "practice"})[
            "structuredContent"
        ]["run"]
        code = next((ROOT / "operators").glob(f"*/{OPERATOR}/oracle.py")).read_text()
        verdict = verdict_of(client, "submit", {"operator": OPERATOR, "code": code, "run": run})
    finally:
        client.close()
    assert verdict["outcome"] == "pass", verdict["text"]
    timed = [case for case in verdict["cases"] if case.get("latency")]
    assert timed
    for case in timed:
        # Both times are times of the same reference on the same device, so their ratio is limited.
        assert 0.02 < case["torch_compile_ns"] / case["pytorch_ns"] < 20
        assert 0 < case["own_share"] <= 1
        assert case["floor_ns"] < case["latency"]["median_ns"] * 1.06
    assert "torch.compile" in verdict["text"] and "(SOL)" in verdict["text"]
