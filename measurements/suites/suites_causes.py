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
# What two later changes of the importers do to these numbers, and what was not imported.
LATER = (
    "After the import of GEAK's set the importers were changed in two ways. The module `libdevice` of",
    "AMD becomes that of NVIDIA, which adds operators of 11 files. A function that is seeded by CUDA's",
    "random number generator is left out, which removes one file. So GEAK's set now gives 323",
    "operators of 179 files (imported again, on two cores). With 5 of 16 cores, beside the import of",
    "TritonBench-G, 140 of its files were imported in 320 s.",
    "",
    "KernelBench's level 3, 50 files, was imported in 334 s with one job, on two cores that other work",
    "used too. GEAK's ROCm set was imported for the target `cuda:90`, without options of AMD's",
    "compiler, and two of its files with `--timeout-s 600`, because the cores were busy.",
)
SAMPLE = "import-tritonbench-g-cpu2.json"  # of import_time.py --sample --cpu-group
ENDED = "import-tritonbench-g-cpu2-ended.json"  # an import that was ended before its last file

# About runs that have cores of their own.
SHARED = (
    "Runs with a part of the cores went on at the same time, on one machine with four GPUs. Each of",
    "them had the GPU and the cores of its row, except that two of them shared GPU 0, and that the two",
    "last ones shared a GPU and 4 cores. Other measurements ran on the machine too, and which GPU they",
    "used was not recorded. Runs on the device `cpu` use no GPU. The columns verdicts and lint have",
    "what counts: a result of a later run replaces that of an earlier one. What was right or sound in",
    "an earlier run was not repeated, so it is what the revision of that run found.",
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
        f"**{count} of the {total} operators were judged**, because the time ended, or a server had",
        "trouble. The order of a suite's operators is random and always the same, so the judged ones",
        "are a random sample of their suite, except that operators with slow verdicts are missing more",
        "often. A column `right` with few verdicts says little about the suite.",
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
            "has the hint `unattributed_run`. Now such a submission does not pass. "
        )
    if names - unchecked:
        text += f"Nobody has looked into the other {len(names - unchecked)}."
    return [*textwrap.wrap(text, 100, break_on_hyphens=False, break_long_words=False), ""]


def on_two_cores(folder: Path) -> list[str]:
    """Says how long an import takes on two cores, from the processor time of a sample."""
    one = json.loads((folder / SAMPLE).read_text(encoding="utf-8"))
    total = one["cpu_seconds"] * one["sample_of"] / one["files"]
    text = (
        f"On two cores that other work used too, a random sample of {one['files']} of "
        f"TritonBench-G's {one['sample_of']} files took {one['seconds']:.0f} s, of which the import "
        f"had {one['cpu_seconds']:.0f} s of processor time (`measurements/results/{SAMPLE}`). So all "
        f"files need about {total:.0f} s of processor time, and two cores of their own need at least "
        f"{total / 2 / 60:.0f} minutes. "
    )
    ended = json.loads((folder / ENDED).read_text(encoding="utf-8"))
    whole = json.loads((folder / IMPORTS[0]).read_text(encoding="utf-8"))["seconds_of_files"]
    part = sum(whole[file] for file in ended["seconds_of_files"]) / sum(whole.values())
    text += (
        f"On two cores of the machine with the GPUs, beside lint on other cores, {ended['files']} of "
        f"the files took {ended['seconds']} s, and then the import was ended "
        f"(`measurements/results/{ENDED}`). With 16 jobs these files had {part:.0%} of the time of all "
        f"files, so all files would take about {ended['seconds'] / part / 60:.0f} minutes there. A "
        "whole import on two cores was not measured."
    )
    return textwrap.wrap(text, 100, break_on_hyphens=False, break_long_words=False)


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
    return [*lines, "", *on_two_cores(folder), "", *LATER]


def runs(results: list[dict[str, Any]]) -> list[str]:
    """Returns a table with the runs of the results. A run that shared its machine with other runs has
    `own_cores` and `own_gpu`, which say what it had for itself."""
    lines = [
        "| device | GPU of the machine | cores | jobs | seconds | verdicts | lint | revision |",
        "|---|---|---|---|---|---|---|---|",
    ]
    shared, notes = False, {}
    for result in results:
        for number, run in enumerate(result["runs"]):
            about = run["environment"]
            shared = shared or "own_cores" in run
            cores = f"{run['own_cores']} of " if "own_cores" in run else ""
            revision = f"`{about['revision'][:8]}`" if "revision" in about else "-"
            if "revision_note" in about:
                notes[revision] = about["revision_note"]
            verdicts, lint = (
                sum(
                    one.get("run", 0) == number for suite in result["suites"] for one in suite[step]
                )
                for step in ("verdicts", "lint")
            )
            lines.append(
                f"| `{result['device']}` | {run.get('own_gpu', '-')} | {cores}{about['cores']} | "
                f"{run.get('jobs', '-')} | {run['wall_s']:.0f} | {verdicts} | {lint} | {revision} |"
            )
    for revision, note in notes.items():
        lines += ["", *textwrap.wrap(f"The revision {revision} {note}.", 100)]
    return [*lines, "", *SHARED] if shared else lines


def shown(names: list[str]) -> str:
    """Returns the number of names of each suite, and the names if they are few."""
    if len(names) <= NAMES_SHOWN:
        return ", ".join(f"`{name}`" for name in names)
    suites = collections.Counter(name.partition("/")[0] for name in names)
    return ", ".join(f"{count} of `{suite}`" for suite, count in sorted(suites.items()))
