"""Results as a pandas frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from assay.results import Result


def results_frame(results: Iterable[Result]) -> Any:
    """Returns a pandas.DataFrame with one row for each result. The rewards are columns `reward_NAME`,
    and `problem` is the kind of the problem. Needs pandas."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("results_frame() needs pandas: pip install 'assay[frame]'") from error

    rows = []
    for result in results:
        row = asdict(result)
        row["problem"] = result.problem.kind if result.problem else None
        row |= {f"reward_{name}": value for name, value in row.pop("rewards").items()}
        rows.append(row)
    return pandas.DataFrame(rows)
