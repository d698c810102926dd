"""Writes docs/reference/generated/cheats.md: every class of cheats with its cases, defences and
results. The results are those of the last runs, which the repository keeps.

python tests/cheats/cheat_table.py"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]

from cheat_file import DEFENCES, Case, cheats, honest_ones  # noqa: E402
from classes import CLASSES, GROUPS  # noqa: E402
from host_tier_addresses import ADDRESSES  # noqa: E402
from host_tier_cases import CHEATS, HONEST  # noqa: E402
from host_tier_origins import ORIGINS  # noqa: E402

ROOT = HERE.parent.parent
RESULTS = ROOT / "measurements/results/cheats.json"  # written by conftest.py
PAGE = ROOT / "docs/reference/generated/cheats.md"
INTRODUCTION = HERE / "introduction.md"
PUBLIC = HERE / "public_exploits.md"  # which case stands for which public exploit
DASH = "–"  # noqa: RUF001


def seen(results: dict[str, Any], device: str, case: Case) -> str:
    found = results.get(device, {}).get(case.name)
    if found is None:
        return "not run" if case.expected_on(device) is not None else DASH
    return found["seen"].removesuffix(":none").replace("error:", "") + (
        " (!)" if found["problems"] else ""
    )


def attempts(results: dict[str, Any]) -> str:
    cases = cheats()
    lines = []
    for number, name in CLASSES.items():
        if number in GROUPS:
            lines += [
                "",
                f"### {GROUPS[number]}",
                "",
                "| # | class: attempt | verdict due | CPU | GPU | defence |",
                "|---|---|---|---|---|---|",
            ]
        for case in (case for case in cases if case.number == number):
            due = str(case.expect).replace("error:", "").replace(",", " or ")
            if case.on_gpu is not None and case.on_gpu != case.expect:
                due += f" (GPU: {str(case.on_gpu).replace('error:', '')})"
            columns = [
                number,
                f"{name}: {case.text}",
                due,
                seen(results, "cpu", case),
                seen(results, "gpu", case),
                ", ".join(case.defences),
            ]
            lines.append("| " + " | ".join(map(str, columns)) + " |")
    return "\n".join(lines) + "\n"


def matrix() -> str:
    """Returns the matrix of classes and defences. A cell is marked if a case of the class names the
    defence."""
    cases = cheats()
    head = [
        "",
        "## Class by defence",
        "",
        "| # | class | " + " | ".join(DEFENCES) + " |",
        "|---|---|" + "---|" * len(DEFENCES),
    ]
    rows = []
    for number, name in CLASSES.items():
        named = {defence for case in cases if case.number == number for defence in case.defences}
        rows.append(
            f"| {number} | {name} | "
            + " | ".join("x" if defence in named else "" for defence in DEFENCES)
            + " |"
        )
    totals = [
        str(len({case.number for case in cases if defence in case.defences}))
        for defence in DEFENCES
    ]
    return "\n".join([*head, *rows, "| | classes | " + " | ".join(totals) + " |"]) + "\n"


def honest(results: dict[str, Any]) -> str:
    head = [
        "",
        "## Honest and awkward",
        "",
        "No defence may take these submissions for cheats. All pass on a device that can run them. "
        "All record for `cuda:90`, except those with a reason.",
        "",
    ]
    rows = ["| # | submission | operator | records |", "|---|---|---|---|"]
    for case in honest_ones():
        records = (
            "no: " + case.refused.removeprefix("refuses (").removesuffix(")")
            if case.refused
            else "yes"
        )
        rows.append(
            f"| {case.number} | {case.text} | {case.operator} | {records if case.name in results.get('records', {}) else 'not run'} |"
        )
    return "\n".join([*head, *rows]) + "\n"


def when(results: dict[str, Any]) -> str:
    """Returns a sentence about each device: at which revision its cases were run last as a whole,
    and what the note of the results says."""
    said = []
    for device, name in (("cpu", "CPU"), ("gpu", "GPU")):
        ran = results.get("environment", {}).get(device)
        if ran is None:
            continue
        where = (
            f"an {ran['gpu'].split(',')[0]}" if device == "gpu" else f"{ran['cores']} processors"
        )
        text = f"The column {name} was run last on {where}, at revision `{ran['revision'][:8]}`"
        said.append(text + (f" ({ran['note']})." if "note" in ran else "."))
    return textwrap.fill(" ".join(said), 100, break_on_hyphens=False, break_long_words=False)


def on_the_host_tier(results: dict[str, Any]) -> str:
    """Returns the table of the submissions for the tier `host`."""
    lines = [
        "",
        "## On the host tier",
        "",
        "These submissions cannot be recorded, so they run on the",
        "[host tier](../../explanation/sandbox.md#the-host-tier). A *fake GPU* is a server whose launchers",
        "run a fake driver, so its submissions of this tier run in Triton's interpreter. A cheat that is",
        "due to pass is a gap that the threat model names. An honest submission must pass.",
        "",
        "| submission | verdict due | fake GPU | GPU |",
        "|---|---|---|---|",
    ]
    more = {**ADDRESSES, **ORIGINS}
    honest = {name: case for name, case in more.items() if case.expect == "pass"}
    cheats = {name: case for name, case in more.items() if name not in honest}
    for kind, cases in (("cheat", {**CHEATS, **cheats}), ("honest", {**HONEST, **honest})):
        for name, case in cases.items():
            columns = [f"{kind}: {case.text}", case.expect]
            for device in ("fake GPU", "GPU"):
                found = results.get(f"host tier, {device}", {}).get(name)
                columns.append("not run" if found is None else found["seen"])
                if found is not None and found["problems"]:
                    columns[-1] += " (!)"
            lines.append("| " + " | ".join(columns) + " |")
    return "\n".join(lines) + "\n"


def page(results: dict[str, Any]) -> str:
    defences = "".join(f"| {name} | {meaning} |\n" for name, meaning in DEFENCES.items())
    text = (
        INTRODUCTION.read_text(encoding="utf-8")
        .replace("WHEN\n", when(results) + "\n")
        .replace("DEFENCES\n", "| defence | what it is |\n|---|---|\n" + defences)
    )
    return (
        text
        + "\n## Every attempt\n"
        + attempts(results)
        + matrix()
        + honest(results)
        + on_the_host_tier(results)
        + PUBLIC.read_text(encoding="utf-8")
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes docs/reference/generated/cheats.md.")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--out", type=Path, default=PAGE)
    arguments = parser.parse_args()
    results = json.loads(arguments.results.read_text(encoding="utf-8"))
    arguments.out.write_text(page(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
