"""Writes the two tables of docs/explanation/amd.md from the result files.

    python measurements/amd/tables.py  # prints both tables

The files are measurements/results/amd-emulated.json and measurements/results/amd-static.json."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent.parent / "results"
REASON_CHARACTERS = 110


def read(name: str) -> dict[str, Any]:
    return dict(json.loads((RESULTS / name).read_text())["operators"])


def emulated(operators: dict[str, Any]) -> str:
    passed = [name for name, found in sorted(operators.items()) if found["outcome"] == "pass"]
    lines = [
        f"{len(passed)} of the {len(operators)} oracles that were tried pass: "
        + ", ".join(f"`{name}`" for name in passed)
        + ".",
        "",
        "| operator | case | reason why it did not pass |",
        "|---|---|---|",
    ]
    for name, found in sorted(operators.items()):
        if found["outcome"] != "pass":
            reason = " ".join(found["reason"].split())[:REASON_CHARACTERS].replace("|", "/")
            lines.append(f"| `{name}` | `{found['case']}` | {found['outcome']}: `{reason}` |")
    return "\n".join(lines)


def static(operators: dict[str, Any]) -> str:
    lines = [
        "| operator | target | kernel | vector registers | LDS, B | spilled | waves | limited by |",
        "|---|---|---|---|---|---|---|---|",
    ]
    kernels: Counter[str] = Counter()
    for name, targets in sorted(operators.items()):
        for target, found in targets.items():
            for one in found.get("kernels", []):
                kernels[target] += 1
                lines.append(
                    f"| `{name}` | {target.removeprefix('hip:')} | `{one['kernel']}` "
                    f"| {one['vector_registers']} | {one['lds_bytes']} | {one['vector_spills']} "
                    f"| {one['waves_per_unit']} of 32 | {one['limiter']} |"
                )
            if "error" in found:
                lines.append(f"| `{name}` | {target} | does not compile: `{found['error'][:80]}` |")
    return "\n".join(lines)


def main() -> None:
    print(emulated(read("amd-emulated.json")))
    print()
    print(static(read("amd-static.json")))


if __name__ == "__main__":
    main()
