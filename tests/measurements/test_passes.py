"""Tests the figures of several passes of grades, and of the positions of samples."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "measurements/mcp"))

from sample_positions import BLOCK, by_position, series_of  # noqa: E402
from throughput import rates_of_passes  # noqa: E402


def test_each_pass_has_its_rate_and_the_last_one_may_not_be_complete() -> None:
    samples = [{"end_s": end} for end in (30.0, 10.0, 20.0, 36.0, 40.0)]
    first, second = rates_of_passes(samples, operators=3)
    assert first == {"complete": True, "verdicts": 3, "took_s": 30.0, "verdicts_per_hour": 360}
    assert second == {"complete": False, "verdicts": 2, "took_s": 10.0, "verdicts_per_hour": 720}


def test_a_pass_of_one_verdict_at_the_end_of_another_has_a_time() -> None:
    assert len(rates_of_passes([{"end_s": 1.0}, {"end_s": 1.0}], operators=1)) == 2


def test_the_second_sample_of_each_block_is_slower(tmp_path: Path) -> None:
    block = [100.0, 101.0, *[100.0] * (BLOCK - 2)]
    fits = {"latency": {"samples_ns": block * 3}, "baseline_latency": {"samples_ns": [100.0] * 20}}
    fits["baseline_latency"]["age_ms"] = 0
    reused = {**fits, "baseline_latency": {**fits["baseline_latency"], "age_ms": 5}}
    longer = {**fits, "latency": {"samples_ns": block * 4}}
    cases = [{"id": str(i), **case} for i, case in enumerate((fits, reused, longer, {}))]
    with sqlite3.connect(tmp_path / "assay.db") as store:
        store.execute("CREATE TABLE submissions (job, operator, kind)")
        store.execute("CREATE TABLE verdicts (job, document)")
        for job, outcome in (("a", "pass"), ("b", "fail")):
            store.execute("INSERT INTO submissions VALUES (?, 'relu', 'grade')", [job])
            document = json.dumps({"outcome": outcome, "cases": cases})
            store.execute("INSERT INTO verdicts VALUES (?, ?)", [job, document])
    store.close()
    series = series_of(tmp_path / "assay.db")
    assert [one["case"] for one in series] == ["0"]
    assert by_position(series, "submission") == [0, 1, *[0] * (BLOCK - 2)]
    assert by_position(series, "oracle") == [0] * BLOCK
