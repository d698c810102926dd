"""Shows whether the samples of a timed block depend on their position in it, from grades of oracles
against themselves.

    python measurements/mcp/sample_positions.py --store assay.db --out sample-positions.json

Takes the series of passed grades with 30 samples, and with 20 samples of an oracle that was timed
anew. They are nearly always three and two blocks of ten, the least of a block, so the position of
each sample is known. These are the steadiest series. Each sample of the submission is compared with the median
of the oracle's samples, and each sample of the oracle too. `submission` and `oracle` have the mean
difference of each position, in percent, over all series and blocks. `series` has the samples."""

from __future__ import annotations

import argparse
import contextlib
import json
import sqlite3
import statistics
from pathlib import Path
from typing import Any

BLOCK = 10  # samples, the least of a block
BLOCKS = {"submission": 3, "oracle": 2}


def series_of(store: Path) -> list[dict[str, Any]]:
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        rows = database.execute(
            "SELECT operator, document FROM verdicts JOIN submissions USING (job)"
            " WHERE kind = 'grade'"
        ).fetchall()
    found = []
    for operator, document in rows:
        verdict = json.loads(document)
        if verdict.get("outcome", "pass") != "pass":
            continue
        for case in verdict.get("cases", []):
            times = {"submission": case.get("latency"), "oracle": case.get("baseline_latency")}
            samples = {name: (one or {}).get("samples_ns", []) for name, one in times.items()}
            is_new = (times["oracle"] or {}).get("age_ms") == 0
            if is_new and all(
                len(samples[name]) == BLOCK * number for name, number in BLOCKS.items()
            ):
                found.append({"operator": operator, "case": case["id"], **samples})
    return found


def by_position(series: list[dict[str, Any]], name: str) -> list[float]:
    """Returns the mean difference of each position from the oracle's median, in percent."""
    differences: list[list[float]] = [[] for _ in range(BLOCK)]
    for one in series:
        median = statistics.median(one["oracle"])
        for index, ns in enumerate(one[name]):
            differences[index % BLOCK].append(100 * (ns / median - 1))
    return [round(statistics.mean(one), 3) for one in differences]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--note", default="")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    series = series_of(options.store)
    if not series:
        raise SystemExit(f"no grade in {options.store} has a series of the lengths {BLOCKS}")
    found = {name: by_position(series, name) for name in BLOCKS}
    print(len(series), "series", json.dumps(found))
    result = {"note": options.note, **found, "series": series}
    options.out.write_text(json.dumps(result) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
