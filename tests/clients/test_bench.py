"""Runs measurements/mcp on a small scale. Checks roughly that the protocol layer is fast enough.
The exact numbers are in measurements/results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The minimum ratio of Assay's requests per second to those of a server with an SDK, at 16
# connections. The goal is 5, but measurements of one second are rough.
RATIO_AT_16 = 3.0
RSS_MIB = 40.0


def test_measure(binary: str, tmp_path: Path) -> None:
    out = tmp_path / "mcp.json"
    small = ["--rounds", "1", "--seconds", "1", "--stdio-calls", "1000", "--start-ups", "1"]
    command = [
        sys.executable,
        str(ROOT / "measurements/mcp/measure.py"),
        "--binary",
        binary,
        "--out",
        str(out),
        *small,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    assay = result["summary"]["assay"]
    assert result["assay_over"]["typescript_sdk"]["http_16_rps"] >= RATIO_AT_16, result["summary"]
    assert all(assay[f"http_{connections}"]["errors"] == 0 for connections in (1, 16, 256))
    assert (
        max(
            assay["http_rss_mib"],
            assay["stdio_rss_mib"],
            result["idle_runs"]["memory_after_mib"]["peak"],
        )
        <= RSS_MIB
    )
    assert result["idle_runs"]["cpu_share_while_idle"] < 0.05
