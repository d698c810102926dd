"""Tests which golden files `measurements/tritonbench_tiers.py` judges again when it continues an
earlier result."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "measurements"))
from tritonbench_tiers import divided


def files(**tiers: str) -> list[dict[str, Any]]:
    return [{"file": f"{name}.py", "tier": tier} for name, tier in tiers.items()]


def names(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(file["file"], file["tier"]) for file in found]


def test_without_an_earlier_result_all_are_judged() -> None:
    imported = files(a="plan", b="neither")
    assert divided(imported, [], []) == (imported, [])


def test_files_of_tier_plan_are_kept() -> None:
    again, kept = divided(
        files(a="plan", b="plan", c="plan", d="plan"), files(a="plan", b="neither", c="host"), []
    )
    assert names(again) == [("b.py", "plan"), ("c.py", "plan"), ("d.py", "plan")]
    assert names(kept) == [("a.py", "plan")]


def test_only_limits_the_files_that_are_judged() -> None:
    again, kept = divided(
        files(a="plan", b="plan", c="plan"), files(a="plan", b="neither"), ["a.py"]
    )
    assert names(again) == [("a.py", "plan")] and names(kept) == [("b.py", "neither")]
    assert divided(files(a="plan", b="plan"), [], ["a.py"]) == (files(a="plan"), [])


def test_unknown_files_are_named() -> None:
    with pytest.raises(SystemExit, match=r"the suite has no file x\.py, y\.py"):
        divided(files(a="plan"), files(y="plan"), ["x.py"])
