"""Sums up the figures of launches that the verdicts of a load contain (`launch` in
docs/reference/verdict.md).

    figures = launch_figures([sample["launch"] for sample in samples])
    figures["new_contexts"], figures["mean_ms"]["map"]"""

from __future__ import annotations

from typing import Any


def rounded(launch: dict[str, Any]) -> dict[str, Any]:
    """Returns the figures of one verdict with two decimals for each time."""
    times = {part: round(ms, 2) for part, ms in launch.get("ms", {}).items()}
    return {**launch, "ms": times} if launch else {}


def launch_figures(launches: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns how many launchers were new and how many were kept, and the mean time of each part
    for a verdict."""
    parts = sorted({part for one in launches for part in one.get("ms", {})})
    count = max(len(launches), 1)
    return {
        "new_contexts": sum(one.get("new_contexts", 0) for one in launches),
        "kept_contexts": sum(one.get("kept_contexts", 0) for one in launches),
        "mean_ms": {
            part: round(sum(one.get("ms", {}).get(part, 0.0) for one in launches) / count, 2)
            for part in parts
        },
    }
