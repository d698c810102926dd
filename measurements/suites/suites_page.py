"""Writes the page with the table of imported suites, from a result of suites_table.py."""

from __future__ import annotations

import collections
import re
import textwrap
from collections.abc import Iterable
from typing import Any

from suites_causes import causes, imports, passes, runs, sample
from suites_merge import OURS

TIERS = ("plan", "host", "interpreter")
# Kinds of verdicts whose outputs are right. `unattributed` means that they are right, but that the
# submission's own kernels did not compute them.
RIGHT = {"oracle": {"none"}, "torch_eager": {"none", "unattributed"}}
KINDS_SHOWN = 6
COLUMNS = 100
LEVEL = re.compile(r"level\d_")  # the beginning of the file names of KernelBench
OF_FILES = ("operators", "refused")  # what a suite's record has for each file
OF_OPERATORS = ("verdicts", "lint")  # and for each operator

WITHOUT_GPU = (
    "- *without a GPU*: the same on device `cpu`, where only cases that run in Triton's interpreter",
    "  are checked, and plans are recorded. Its results are in a file of their own.",
)

Row = dict[str, int]


def row_of(suite: dict[str, Any]) -> Row:
    """Counts the files, operators, verdicts and lint results of a suite."""
    baselines = {one["name"]: one["baseline"] for one in suite["operators"]}
    verdicts = [one for one in suite["verdicts"] if one["error_kind"] not in OURS]
    right = [one for one in verdicts if is_right(one, baselines)]
    tiers = collections.Counter(one["tier"] for one in right)
    decided = [one for one in suite["lint"] if not one["undecided"]]
    return {
        "files": suite["files"],
        "used": suite["files"] - len(suite["refused"]),
        "operators": len(suite["operators"]),
        "other_shapes": sum(one["other_shapes"] for one in suite["operators"]),
        "judged": len(verdicts),
        **{tier: tiers[tier] for tier in TIERS},
        "neither": len(verdicts) - sum(tiers[tier] for tier in TIERS),
        "right": len(right),
        "linted": len(decided),
        "sound": sum(one["sound"] for one in decided),
    }


def is_right(verdict: dict[str, Any], baselines: dict[str, str]) -> bool:
    return verdict["error_kind"] in RIGHT[baselines[verdict["operator"]]]


def wrong_of(suites: list[dict[str, Any]]) -> set[str]:
    """Returns the verdicts with wrong outputs or an error, in the form SUITE/OPERATOR."""
    found = set()
    for suite in suites:
        baselines = {one["name"]: one["baseline"] for one in suite["operators"]}
        found |= {
            f"{suite['name']}/{one['operator']}"
            for one in suite["verdicts"]
            if one["error_kind"] not in OURS and not is_right(one, baselines)
        }
    return found


def passes_of(suites: list[dict[str, Any]], hint: str = "") -> set[str]:
    """Returns the references in PyTorch whose verdict is `pass`, in the form SUITE/OPERATOR. If
    `hint` is given, returns only those whose verdict has this hint."""
    return {
        f"{suite['name']}/{verdict['operator']}"
        for suite in suites
        for verdict in suite["verdicts"]
        for one in suite["operators"]
        if one["name"] == verdict["operator"]
        and one["baseline"] == "torch_eager"
        and verdict["error_kind"] == "none"
        and (not hint or hint in [one["kind"] for one in verdict.get("hints") or []])
    }


def parts_of(suite: dict[str, Any]) -> list[dict[str, Any]]:
    """Divides a suite whose files have levels into its levels."""
    files = {one["file"] for one in (*suite["operators"], *suite["refused"])}
    levels = sorted({found[0] for found in (LEVEL.match(file) for file in files) if found})
    if not levels or not all(file.startswith(tuple(levels)) for file in files):
        return [suite]
    parts = []
    for level in levels:
        own = {file for file in files if file.startswith(level)}
        names = {one["name"] for one in suite["operators"] if one["file"] in own}
        parts.append(
            suite
            | {"title": f"`{suite['name']}` level {level[5:-1]}", "files": len(own)}
            | {key: [one for one in suite[key] if one["file"] in own] for key in OF_FILES}
            | {key: [one for one in suite[key] if one["operator"] in names] for key in OF_OPERATORS}
        )
    return parts


def title_of(suite: dict[str, Any]) -> str:
    return str(suite.get("title", f"`{suite['name']}`")) + (
        f" {suite['version']}" if suite["version"] else ""
    )


def answers_of(suite: dict[str, Any]) -> str:
    """Says what was judged."""
    found = {one["baseline"] for one in suite["operators"]}
    texts = {"oracle": "its kernels", "torch_eager": "its PyTorch"}
    return " and ".join(texts[one] for one in sorted(found)) or "-"


def counts(kinds: Iterable[str]) -> str:
    """Returns the most frequent kinds with their counts."""
    found = collections.Counter(kinds).most_common()
    shown = [f"`{kind or 'none'}` {count}" for kind, count in found[:KINDS_SHOWN]]
    rest = sum(count for _, count in found[KINDS_SHOWN:])
    return ", ".join([*shown, *([f"others {rest}"] if rest else [])]) or "-"


def lint_of(suite: dict[str, Any]) -> str:
    row = row_of(suite)
    return f"{row['sound']} of {row['linted']}" if row["linted"] else "-"


def table(suites: list[dict[str, Any]], without_gpu: dict[str, dict[str, Any]]) -> list[str]:
    lines = [
        "| suite | files | with operators | operators | other shapes | judged: | plan | host | "
        "interpreter | neither | right | sound in lint |"
        + (" without a GPU |" if without_gpu else ""),
        "|---|---|---|---|---|---|---|---|---|---|---|---|" + ("---|" if without_gpu else ""),
    ]
    for suite in suites:
        row = row_of(suite)
        tiers = " | ".join(str(row[tier]) if row["judged"] else "-" for tier in TIERS)
        neither = str(row["neither"]) if row["judged"] else "-"
        right = f"{row['right']} of {row['judged']}" if row["judged"] else "-"
        line = (
            f"| {title_of(suite)} | {row['files']} | {row['used']} | {row['operators']} | "
            f"{row['other_shapes']} | {answers_of(suite)} | {tiers} | {neither} | {right} | "
            f"{lint_of(suite)} |"
        )
        if without_gpu:
            other = without_gpu.get(title_of(suite))
            line += f" {lint_of(other) if other else '-'} |"
        lines.append(line)
    return lines


def unsound_of(suites: Iterable[dict[str, Any]]) -> set[str]:
    """Returns the operators that lint did not find sound, in the form SUITE/OPERATOR."""
    return {
        f"{suite['name']}/{one['operator']}"
        for suite in suites
        for one in suite["lint"]
        if not one["sound"] and not one["undecided"]
    }


def unsound(suites: list[dict[str, Any]]) -> str:
    """Returns the operators that are unsound in at least one of the results of a suite."""
    found = sorted(name.partition("/")[2] for name in unsound_of(suites))
    return ", ".join(f"`{name}`" for name in found) or "-"


def reasons(suites: list[dict[str, Any]], without_gpu: dict[str, dict[str, Any]]) -> list[str]:
    lines = [
        "| suite | files without operators | neither | not sound |",
        "|---|---|---|---|",
    ]
    for suite in suites:
        baselines = {one["name"]: one["baseline"] for one in suite["operators"]}
        wrong = [
            one["error_kind"]
            for one in suite["verdicts"]
            if one["error_kind"] not in OURS and not is_right(one, baselines)
        ]
        other = without_gpu.get(title_of(suite))
        lines.append(
            f"| {title_of(suite)} | {counts(one['kind'] for one in suite['refused'])} | "
            f"{counts(wrong)} | {unsound([suite, other] if other else [suite])} |"
        )
    return lines


def not_run(suites: list[dict[str, Any]]) -> list[str]:
    """Says what has no result: because the time was over, or because a server had trouble."""
    lines = []
    for suite in suites:
        row = row_of(suite)
        parts = []
        if missing := row["operators"] - row["judged"]:
            parts.append(f"{missing} operator{'s' * (missing > 1)} without a verdict")
        if missing := row["operators"] - row["linted"]:
            parts.append(f"{missing} operator{'s' * (missing > 1)} without a result of lint")
        if parts:
            text = f"- {title_of(suite)}: {', '.join(parts)}."
            lines += textwrap.wrap(text, COLUMNS, subsequent_indent="  ", break_on_hyphens=False)
    return lines or ["Everything was run."]


def page(
    result: dict[str, Any], other: dict[str, Any] | None = None, files: Iterable[str] = ()
) -> str:
    """Returns the page of a result. `other` is a result of device cpu for the same suites, and
    `files` are the names of the results' files."""
    suites = [part for suite in result["suites"] for part in parts_of(suite)]
    records = other["suites"] if other else []
    same = {suite["digest"] for suite in result["suites"]}
    without_gpu = {
        title_of(part): part
        for record in records
        if record["digest"] in same
        for part in parts_of(record)
    }
    about = result["runs"][-1]["environment"]
    gpu = "no GPU" if result["device"] == "cpu" else "an " + about["gpu"].partition(",")[0]
    lines = [
        "# Imported suites",
        "",
        "`measurements/suites/suites_table.py` made this page. Do not edit it.",
        "",
        "Assay contains no benchmark of others, but imports them from a checkout. This table shows",
        "what an import gives, and what a server makes of the benchmark's own kernels. It was made",
        f"on device `{result['device']}` ({gpu}, {about['cores']} processors, PyTorch"
        f" {about['torch']}, Triton",
        f"{about['triton']}), in {len(result['runs'])} runs (see [below](#runs)). Every verdict and "
        "every result of lint:",
        f"{', '.join(f'`{file}`' for file in files) or 'not kept'}.",
        "",
        *sample(suites, [row_of(suite)["judged"] for suite in suites]),
        *table(suites, without_gpu),
        "",
        "- *other shapes*: operators with a hidden case whose shapes no public case has.",
        "- *judged*: what was sent to `run_tests`. *Its kernels* are the benchmark's own kernels,",
        "  the oracles. *Its PyTorch* is the benchmark's reference in PyTorch, for operators that",
        "  have no oracle.",
        "- *plan*, *host*, *interpreter*: right outputs in this",
        "  [tier](../reference/glossary.md#tier). *neither*: no right outputs.",
        "- *right*: all outputs of the public cases are right on this device. For a reference in",
        "  PyTorch this means the verdict `unattributed`: its outputs are right, but no kernel of its",
        "  own computed them, so it is no solution.",
        "- *sound in lint*: all checks of `assay operators lint` pass, with public and hidden cases.",
        *(WITHOUT_GPU if without_gpu else []),
        "",
        "## Reasons",
        "",
        *reasons(suites, without_gpu),
        "",
        "## Causes",
        "",
        "Why answers of the benchmarks are not right:",
        "",
        *causes(wrong_of(suites)),
        "",
        *passes(passes_of(suites), passes_of(suites, "unattributed_run")),
        "Why lint does not find operators sound, with or without a GPU:",
        "",
        *causes(unsound_of([*suites, *without_gpu.values()]), table="unsound"),
        "",
        "## Times of imports",
        "",
        *imports(),
        "",
        "## Runs",
        "",
        *runs([result, *([other] if other else [])]),
        "",
        "## Not run",
        "",
        *not_run(suites),
    ]
    return "\n".join(lines) + "\n"
