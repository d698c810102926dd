"""Replays stored launch plans on a real GPU. The oracle's plans pass without the oracle's source,
and the plans of a wrong submission fail."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
ORACLE = ROOT / "operators/standard/vector_add/oracle.py"


def evaluate(*arguments: str) -> dict[str, Any]:
    command = [BINARY, "eval", "vector_add", *arguments, "--device", "cuda:0", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1, 2), done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def plans_of(source: Path, folder: Path) -> list[str]:
    """Records the plans of a source, which may be wrong. Returns the options `--plan PATH`, one for
    each public case."""
    evaluate(str(source), "--mode", "test", "--artifacts", str(folder))
    return [part for path in sorted(folder.glob("*.plan")) for part in ("--plan", str(path))]


def test_the_oracles_plans_pass_and_are_timed_without_it(tmp_path: Path) -> None:
    plans = plans_of(ORACLE, tmp_path)
    assert len(plans) >= 6
    verdict = evaluate(*plans, "--mode", "grade")
    assert (verdict["outcome"], verdict["tier"]) == ("pass", "plan"), json.dumps(verdict, indent=1)[
        :3000
    ]
    assert (
        set(verdict["provenance"]["plans"]) == {one["id"] for one in verdict["cases"]}
        and not verdict["provenance"]["source_sha256"]
    )
    timed = {one["id"]: one["latency"]["median_ns"] for one in verdict["cases"] if "latency" in one}
    assert "perf" in verdict, (verdict.get("hints"), timed)  # the hints say why there is no Perf
    assert verdict["perf"] > 0 and timed.keys() == {"large"} and timed["large"] > 0
    # No source is imported. The oracle is recorded, because Perf compares with it.
    assert "import" not in verdict["stage_ms"]
    largest = evaluate(*plans[-2:], "--mode", "profile")
    assert largest["outcome"] == "pass" and largest["cases"][0]["latency"]


def test_a_wrong_kernels_plan_fails(tmp_path: Path) -> None:
    text = ORACLE.read_text()
    wrong = tmp_path / "wrong.py"
    assert "(x + y)" in text
    wrong.write_text(text.replace("(x + y)", "(x - y)"))
    verdict = evaluate(*plans_of(wrong, tmp_path / "plans"), "--mode", "test")
    assert (verdict["outcome"], verdict["error_kind"]) == ("fail", "wrong_result"), json.dumps(
        verdict, indent=1
    )[:3000]
