"""Checks the bound (memory, compute or latency) that the tool `profile` finds from times alone.
This bound should agree with the bound from Nsight Compute's counters. The script uses every
oracle's last public case.

    python measurements/profile_bound.py --device cuda:0 \
        --out measurements/results/profile-bound-h200.json

Each oracle is profiled twice: once from its times, and once with `detail: counters`. The bound of
the second profile follows from the counters of the oracle's longest kernel. Exits with status 1 if
the two bounds differ for more than one oracle. `--seconds` limits the duration of this run, and
`--into` continues the result file of an earlier run."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from environment import environment
from operator_folders import operator_folders
from stdio_client import StdioClient, serve_command

ROOT = Path(__file__).resolve().parent.parent


def profile(client: StdioClient, folder: Path, device: str, detail: str) -> dict[str, Any]:
    arguments = {
        "operator": folder.name,
        "code": (folder / "oracle.py").read_text(),
        "device": device,
        "detail": detail,
    }
    result = client.call("profile", arguments)
    while result["structuredContent"].get("status") == "running":
        result = client.call("job", {"job": result["structuredContent"]["job"], "wait_s": 20})
    found: dict[str, Any] = result["structuredContent"]
    found["text"] = result["content"][0]["text"]
    return found


def compare(client: StdioClient, folder: Path, device: str) -> dict[str, Any]:
    begin = time.perf_counter()
    timed, counted = (
        profile(client, folder, device, "summary"),
        profile(client, folder, device, "counters"),
    )
    by_time, by_counters = timed.get("profile", {}), counted.get("profile", {})
    row = {
        "operator": folder.name,
        "wall_s": time.perf_counter() - begin,
        "by_time": by_time.get("bound"),
        "by_counters": by_counters.get("bound")
        if by_counters.get("evidence") == "counters"
        else None,
        "share": by_time.get("roofline", {}).get("share"),
        "reason": by_time.get("reason"),
        "missing": by_counters.get("missing", {}),
        "counters": by_counters.get("counters", []),
        "roofline": by_time.get("roofline"),
        "outcome": [timed.get("outcome"), counted.get("outcome")],
        "characters": len(timed["text"]),
        "text": timed["text"],
    }
    row["agree"] = row["by_time"] == row["by_counters"] if row["by_counters"] else None
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument(
        "--seconds", type=float, default=3600.0, help="start no further oracle after this time"
    )
    parser.add_argument(
        "--into", type=Path, help="a result file whose oracles are kept and not measured again"
    )
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    began = time.perf_counter()
    # Leaves out operators in TLX, because a GPU machine need not have TLX.
    folders = [
        folder
        for folder in operator_folders()
        if 'dialect = "tlx"' not in (folder / "spec.toml").read_text()
    ]
    rows: list[dict[str, Any]] = []
    if options.into and options.into.exists():
        rows = json.loads(options.into.read_text())["oracles"]
    with tempfile.TemporaryDirectory() as folder:
        client = StdioClient(serve_command(options.binary, options.device, f"{folder}/assay.db"))
        for chosen in folders:
            if (
                any(row["operator"] == chosen.name for row in rows)
                or time.perf_counter() - began > options.seconds
            ):
                continue
            row = compare(client, chosen, options.device)
            rows.append(row)
            share = f"{100 * row['share']:.0f} %" if row["share"] else "-"
            counters = f"counters: {row['by_counters']}  {row['missing']}"
            print(
                f"{row['operator']:22} time: {row['by_time']} ({share})  {counters}  {row['wall_s']:.1f} s",
                flush=True,
            )
        client.close()
    agree = sum(row["agree"] is True for row in rows)
    counted = sum(row["agree"] is not None for row in rows)
    print(f"{agree} agree, {counted} of {len(rows)} have counters")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(
            json.dumps({"what": __doc__, "environment": environment(), "oracles": rows}, indent=1)
            + "\n"
        )
    return 0 if rows and agree >= len(rows) - 1 else 1


if __name__ == "__main__":
    sys.exit(main())
