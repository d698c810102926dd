"""Runs crash.py for a short time. `./run soak` runs it for a long time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import crash

KILLS = 10


def test_no_kill_loses_a_verdict_or_leaves_anything_behind() -> None:
    binary = os.environ.get("ASSAY_BIN", str(crash.ROOT / "build/release/bin/assay"))
    tally = crash.run(binary, "cpu", KILLS, seconds=3_600, seed=20_260_728)
    assert sum(tally.kills.values()) == KILLS
    assert tally.problems == []
