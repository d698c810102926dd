"""Computes numbers with intervals from the attempts of measurements/agents_study.py, and writes the
tables of docs/measurements/agents-study.md. All functions are pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from paired import bootstrap, difference, mean, wilson

Rows = Sequence[dict[str, Any]]

# Each entry consists of the part of the study (PARTS in agents_study.py), the name of a feature,
# the agent with the feature, the agent without the feature, and the metric that shows the
# difference.
CLAIMS = [
    ("device", "feedback (1 attempt against 5)", "alphaevolve", "one_shot", "passed"),
    ("device", "feedback (edits)", "leader", "one_shot", "passed"),
    ("device", "more attempts (9 against 5)", "alphaevolve?attempts=9", "alphaevolve", "passed"),
    ("device", "islands", "alphaevolve?attempts=9&islands=3", "alphaevolve?attempts=9", "passed"),
    ("device", "debugging trap after 5 repairs", "geak", "geak?max_debug=0", "passed"),
    ("device", "debugging trap after 2 repairs", "geak?max_debug=2", "geak?max_debug=0", "passed"),
    ("device", "debugging trap: 2 repairs against 5", "geak?max_debug=2", "geak", "passed"),
    ("device", "reflector", "geak?max_debug=2", "geak?max_debug=2&reflect=0", "passed"),
    (
        "device",
        "compiling before testing",
        "geak?max_debug=2",
        "geak?max_debug=2&cascade=0",
        "passed",
    ),
    (
        "device",
        "compiling before testing: tests saved",
        "geak?max_debug=2&cascade=0",
        "geak?max_debug=2",
        "run_tests",
    ),
    (
        "device",
        "instances (3 x 3 against 1 x 9)",
        "geak?iterations=3&instances=3",
        "geak",
        "passed",
    ),
    ("device", "pool of ancestors", "geak", "geak?ancestors=1", "perf"),
    ("device", "optimizer", "geak", "geak?optimize=0", "perf"),
    ("fake", "feedback (1 attempt against 5)", "alphaevolve", "one_shot", "perf"),
    ("fake", "more attempts (9 against 5)", "alphaevolve?attempts=9", "alphaevolve", "perf"),
    (
        "fake",
        "other versions shown",
        "alphaevolve?attempts=9",
        "alphaevolve?attempts=9&others=0",
        "perf",
    ),
    ("fake", "archive", "alphaevolve?attempts=9&archive=1", "alphaevolve?attempts=9", "perf"),
    (
        "fake",
        "islands",
        "alphaevolve?attempts=9&islands=3&migrate=3",
        "alphaevolve?attempts=9",
        "perf",
    ),
    ("fake", "optimizer", "geak", "geak?optimize=0", "perf"),
    ("fake", "pool of ancestors", "geak", "geak?ancestors=1", "perf"),
    ("fake", "instances (3 x 3 against 1 x 9)", "geak?iterations=3&instances=3", "geak", "perf"),
]
BEGIN, END = "<!-- measurements/agents_study.py writes this -->", "<!-- to here -->"


def of(rows: Rows, part: str, agent: str) -> list[dict[str, Any]]:
    """Returns one agent's attempts, in the same order for every agent."""
    chosen = [row for row in rows if row["part"] == part and row["agent"] == agent]
    return sorted(chosen, key=lambda row: (row["seed"], row["operator"], row["sample"]))


def values(rows: Rows, metric: str) -> list[float] | None:
    """Returns the values of a metric. Returns None if an attempt lacks the metric, because nothing
    was timed."""
    found = [row[metric] for row in rows]
    return (
        None
        if not found or any(value is None for value in found)
        else [float(value) for value in found]
    )


def agent_result(rows: Rows, part: str, agent: str) -> dict[str, Any]:
    mine = of(rows, part, agent)
    passed = sum(row["passed"] for row in mine)
    perfs = values(mine, "perf") if any(row["perf"] for row in mine) else None
    counts = {
        name: round(mean([row[name] for row in mine]), 2)
        for name in ("replies", "compile", "run_tests", "profile")
    }
    return {
        "part": part,
        "agent": agent,
        "attempts": len(mine),
        "pass": passed / len(mine),
        "pass_interval": wilson(passed, len(mine)),
        "perf": None if perfs is None else mean(perfs),
        "perf_interval": None if perfs is None else bootstrap(perfs),
        **counts,
    }


def evaluate_claim(rows: Rows, claim: tuple[str, str, str, str, str]) -> dict[str, Any] | None:
    part, what, ours, theirs, metric = claim
    pair = [values(of(rows, part, agent), metric) for agent in (ours, theirs)]
    if pair[0] is None or pair[1] is None or not any(pair[0] + pair[1]):
        return None
    gain, (low, high) = difference(pair[0], pair[1])
    seen = "yes" if low > 0 else "the opposite" if high < 0 else "no"
    return {
        "part": part,
        "what": what,
        "with": ours,
        "without": theirs,
        "metric": metric,
        "gain": gain,
        "interval": (low, high),
        "seen": seen,
    }


def summary(rows: Rows) -> dict[str, Any]:
    agents = dict.fromkeys((row["part"], row["agent"]) for row in rows)
    ranking = [agent_result(rows, part, agent) for part, agent in agents]
    ranking.sort(key=lambda one: (one["part"], -(one["perf"] or 0), -one["pass"]))
    return {
        "ranking": ranking,
        "claims": [found for claim in CLAIMS if (found := evaluate_claim(rows, claim))],
    }


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def ranking_table(ranking: Rows, part: str) -> str:
    timed = any(one["perf"] is not None for one in ranking if one["part"] == part)
    text = f"| agent | pass | {'Perf@1 | ' if timed else ''}replies | compiles | tests |\n|---|---|{'---|' if timed else ''}---|---|---|\n"
    for one in ranking:
        if one["part"] != part:
            continue
        low, high = one["pass_interval"]
        text += (
            f"| `{one['agent']}` | {percent(one['pass'])} ({100 * low:.0f} to {100 * high:.0f}) | "
        )
        if timed:
            text += f"{one['perf']:.2f} ({one['perf_interval'][0]:.2f} to {one['perf_interval'][1]:.2f}) | "
        text += f"{one['replies']:.1f} | {one['compile']:.1f} | {one['run_tests']:.1f} |\n"
    return text


def claims_table(claims: Rows, part: str) -> str:
    text = "| feature | with | without | gain (95 %) | seen |\n|---|---|---|---|---|\n"
    for one in claims:
        if one["part"] != part:
            continue
        low, high = one["interval"]
        if one["metric"] == "passed":
            gain = f"pass {100 * one['gain']:+.0f} ({100 * low:+.0f} to {100 * high:+.0f}) points"
        else:
            gain = f"{'Perf@1' if one['metric'] == 'perf' else 'tests'} {one['gain']:+.2f} ({low:+.2f} to {high:+.2f})"
        text += (
            f"| {one['what']} | `{one['with']}` | `{one['without']}` | {gain} | {one['seen']} |\n"
        )
    return text


def tables(document: dict[str, Any]) -> str:
    ranking, claims = document["summary"]["ranking"], document["summary"]["claims"]
    text = ""
    for part, where in (("device", f"Device `{document['device']}`"), ("fake", "Device `fake`")):
        attempts = [one["attempts"] for one in ranking if one["part"] == part]
        if not attempts:
            continue
        text += (
            f"\n{where}, `{document['models'][part]}`, {attempts[0]} attempts of each agent:\n\n"
        )
        text += ranking_table(ranking, part) + "\n" + claims_table(claims, part)
    return text + "\n"


def replace_tables(page: str, document: dict[str, Any]) -> str:
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"the page lacks '{BEGIN}' and '{END}'")
    return pattern.sub(lambda _: BEGIN + "\n" + tables(document) + END, page)
