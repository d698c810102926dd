"""Writes the tables of docs/explanation/amd.md from the result files.

    python measurements/amd/tables.py  # prints the tables

The files are measurements/results/amd-emulated.json and measurements/results/amd-static.json, and
those of tests/hip_over_cuda in the folder measurements/results/hip-over-cuda, if it exists."""

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
    passed = sum(found["outcome"] == "pass" for found in operators.values())
    lines = [f"{passed} of {len(operators)} operators pass in the emulator."]
    if passed < len(operators):
        lines += ["", "| operator | case | reason why it did not pass |", "|---|---|---|"]
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
        for target, found in sorted(targets.items()):
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


def over_cuda(folder: Path) -> str:
    """Returns what the launcher's HIP driver did on an NVIDIA GPU."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    lines = []
    if "oracles" in found:
        one = found["oracles"]
        kinds = {name: row.get("error_kind") for name, row in one["oracles"].items()}
        unsupported = {name for name, kind in kinds.items() if kind == "unsupported"}
        lines.append(
            f"{one['passed']} oracles pass, {len(set(one['refused']) - unsupported)} are refused by "
            f"name, {len(set(one['wrong']) - unsupported)} are wrong, "
            f"{len(unsupported)} need a Triton that was not installed, "
            f"and {len(one['not_run'])} were not run."
        )
    if "kills" in found:
        one = found["kills"]
        lines.append(f"After {one['kills']} kills, the next launcher works: {one['works_after']}.")
    if "cheats" in found:
        cheats = found["cheats"]["cheats"].values()
        run = [one for one in cheats if one["seen"] != "not run"]
        through = sum(bool(one["problems"]) for one in run)
        lines.append(f"{len(run)} of {len(cheats)} cheats were sent; {through} got through.")
    rows = []
    for name, one in found.get("oracle-times", {}).get("operators", {}).items():
        if one != "not run":
            rows.append((f"`{name}`", one["hip_ns"], one["cuda_ns"]))
    for one in found.get("launcher-times", []):
        rows.append((f"vector add of {one['elements']}", one["hip_ns"], one["cuda_ns"]))
    lines += ["", "| kernels | HIP, us | CUDA, us | HIP / CUDA |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {hip / 1e3:.2f} | {cuda / 1e3:.2f} | {hip / cuda:.4f} |"
        for name, hip, cuda in rows
    ]
    return "\n".join(lines)


def main() -> None:
    if (RESULTS / "hip-over-cuda").exists():
        print(over_cuda(RESULTS / "hip-over-cuda"))
        print()
    print(emulated(read("amd-emulated.json")))
    print()
    print(static(read("amd-static.json")))


if __name__ == "__main__":
    main()
