"""The parts of the page of imported suites that say how much was judged, and why the benchmark's own
answers are not right. The causes are in causes.toml, because a person found them."""

from __future__ import annotations

import collections
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CAUSES = Path(__file__).parent / "causes.toml"
RESULTS = Path(__file__).parent.parent / "results"
IMPORTS = (
    "import-tritonbench-g-cpu16.json",
    "import-geak-tritonbench-cpu16.json",
)  # of import_time.py
NAMES_SHOWN = 3
# What two later changes of the importers do to these numbers.
LATER = (
    "After the import of GEAK's set the importers were changed in two ways. The module `libdevice` of",
    "AMD becomes that of NVIDIA, which adds operators of 11 files. A function that is seeded by CUDA's",
    "random number generator is left out, which removes one file. So GEAK's set now gives 323",
    "operators of 179 files (imported again, on two cores). With 5 of 16 cores, beside the import of",
    "TritonBench-G, 140 of its files were imported in 320 s.",
)


def sample(suites: list[dict[str, Any]], judged: list[int]) -> list[str]:
    """Says how many operators were judged, and how they were drawn. `judged` is their number in
    each suite."""
    count, total = sum(judged), sum(len(suite["operators"]) for suite in suites)
    if not count:
        return ["No operator was judged.", ""]
    if count == total:
        return [f"All {total} operators were judged.", ""]
    return [
        f"**{count} of the {total} operators were judged**, because the time ended. The order of a",
        "suite's operators is random and always the same, so the judged ones are a random sample of",
        "their suite, except that operators with slow verdicts are missing more often. A column",
        "`right` with few verdicts says little about the suite.",
        "",
    ]


def causes(wrong: set[str], path: Path = CAUSES, table: str = "cause") -> list[str]:
    """Returns a table with the causes of the wrong verdicts, which have the form SUITE/OPERATOR. With
    the table "unsound", returns why lint did not find these operators sound."""
    known = tomllib.loads(path.read_text(encoding="utf-8")).get(table, [])
    lines = [
        f"| cause | whose | {'verdicts' if table == 'cause' else 'operators'} | changed since the run |",
        "|---|---|---|---|",
    ]
    for cause in known:
        found = sorted(wrong & set(cause["verdicts"]))
        if found:
            lines.append(
                f"| {cause['text']} | {cause['whose']} | {shown(found)} | {cause['done'] or '-'} |"
            )
    if rest := sorted(wrong - {name for cause in known for name in cause["verdicts"]}):
        lines.append(f"| nobody has looked | - | {shown(rest)} | - |")
    if len(lines) > 2:
        return lines
    return [f"All that were {'judged are right' if table == 'cause' else 'linted are sound'}."]


def passes(names: set[str], unchecked: set[str]) -> list[str]:
    """Says which references in PyTorch got `pass`, although they have no kernel. `unchecked` are
    those of them whose verdict has the hint that the run without kernels failed."""
    if not names:
        return []
    text = (
        f"References in PyTorch that got `pass`: {', '.join(f'`{name}`' for name in sorted(names))}. "
        "Other references are `unattributed`, because the host tier runs each submission once more "
        "without its kernels. "
    )
    if unchecked:
        text += (
            f"That run ended with an error for {len(unchecked)} of the {len(names)}, and the verdict "
            "has the hint `unattributed_run`. "
        )
    if names - unchecked:
        text += f"Nobody has looked into the other {len(names - unchecked)}."
    return [*textwrap.wrap(text, 100, break_on_hyphens=False, break_long_words=False), ""]


def imports(folder: Path = RESULTS) -> list[str]:
    """Returns a table with the results of import_time.py."""
    lines = [
        "| command | cores | seconds | operators | files with operators | result |",
        "|---|---|---|---|---|---|",
    ]
    for name in IMPORTS:
        one = json.loads((folder / name).read_text(encoding="utf-8"))
        lines.append(
            f"| `{one['what'].partition(',')[0]}` | {one['processors']} | {one['seconds']} | "
            f"{one['operators']} | {one['files_with_operators']} of {one['files']} | "
            f"`measurements/results/{name}` |"
        )
    return [*lines, "", *LATER]


def shown(names: list[str]) -> str:
    """Returns the number of names of each suite, and the names if they are few."""
    if len(names) <= NAMES_SHOWN:
        return ", ".join(f"`{name}`" for name in names)
    suites = collections.Counter(name.partition("/")[0] for name in names)
    return ", ".join(f"{count} of `{suite}`" for suite, count in sorted(suites.items()))
