"""Writes the verdicts on the published answers to TritonBench-G into a file that `assay import
verdicts` reads, so that a site can show them:

    python measurements/suites/published_verdicts.py CHECKOUT RESULT --judged DATE --out FILE

CHECKOUT is a checkout of thunlp/TritonBench. It says which answers each set has, and RESULT, a
result of measurements/answers.py, has the verdict of each answer (published_answers.py). --judged
is the day of the result. The file has one run for each set, with names of operators and kinds of
errors. It has no source."""

from __future__ import annotations

import argparse
import datetime
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from published_answers import OURS, answer_id, answers_of

FORMAT = "assay.verdicts/1"
SET = re.compile(r"(?:output_)?(?P<model>.+?)(?:_(?P<prompt>(?:comp|simp)(?:_rag)?_?))?$")
# [kind of error, stage, tier]
Found = list[str]


def tier_of(kind: str, stages: dict[str, float]) -> str:
    """Returns the tier of a right answer. On a GPU, only the host tier has the stage `run`."""
    if kind != "none":
        return "none"
    return "host" if "run" in stages else "plan"


def verdicts_of(result: dict[str, Any]) -> dict[str, dict[str, Found]]:
    """Returns the verdicts by answer and operator."""
    found: dict[str, dict[str, Found]] = defaultdict(dict)
    for name, operator, kind, stage, _, stages, _ in result["after"]["samples"]:
        if kind not in OURS:
            found[name.partition(":")[0]][operator] = [kind, stage, tier_of(kind, stages)]
    return found


def operators_of(result: dict[str, Any], files: dict[str, str]) -> dict[str, list[str]]:
    """Returns the operators of each golden file. `files` has the golden file of each answer."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, operator, *_ in result["after"]["samples"]:
        if file := files.get(name.partition(":")[0]):
            found[file].add(operator)
    return {file: sorted(names) for file, names in found.items()}


def run_of(
    name: str,
    answers: list[tuple[str, str]],
    of_file: dict[str, list[str]],
    places: dict[str, int],
    verdicts: dict[str, dict[str, Found]],
) -> dict[str, Any]:
    """Returns the run of a set. An operator without a verdict has a `null` in its place."""
    match = SET.match(name.rpartition("/")[2])
    assert match
    prompt = match["prompt"] or "a coder model"
    results: list[list[Any]] = []
    for file, code in answers:
        of_answer = verdicts.get(answer_id(file, code), {})
        results += [
            [places[operator], *of_answer.get(operator, [None])]
            for operator in of_file.get(file, [])
        ]
    return {
        "agent": f"published, {prompt}",
        "model": match["model"],
        "verdicts": sorted(results, key=lambda one: int(one[0])),
    }


def document_of(result: dict[str, Any], sets: dict[str, list[tuple[str, str]]]) -> dict[str, Any]:
    environment = result["environment"]
    device = environment["gpu"].partition(",")[0]
    files = {answer_id(*one): one[0] for answers in sets.values() for one in answers}
    of_file = operators_of(result, files)
    operators = sorted({name for names in of_file.values() for name in names})
    places = {name: place for place, name in enumerate(operators)}
    verdicts = verdicts_of(result)
    return {
        "format": FORMAT,
        "provenance": (
            "Answers that TritonBench's authors published with their benchmark, judged by Assay with "
            f"{result['tool']}, on public cases, on an {device} with Triton "
            f"{environment['triton']}. Their sources are not included."
        ),
        "suite": {"name": "tritonbench-g", "version": "published answers, by operator"},
        "track": "one_shot",
        "device": result["device"],
        "device_name": device,
        "triton": environment["triton"],
        "torch": environment["torch"],
        "operators": operators,
        "runs": [
            run_of(name, answers, of_file, places, verdicts)
            for name, answers in sorted(sets.items())
        ],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, help="a checkout of thunlp/TritonBench")
    parser.add_argument("result", type=Path, help="a result of measurements/answers.py")
    parser.add_argument("--judged", required=True, help="the day of the result: 2026-01-31")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    day = datetime.datetime.fromisoformat(options.judged).replace(tzinfo=datetime.timezone.utc)
    document = document_of(
        json.loads(options.result.read_text(encoding="utf-8")), answers_of(options.checkout)
    )
    document["judged_unix_ms"] = int(day.timestamp()) * 1000
    runs = document.pop("runs")
    head = json.dumps(document)[:-1]
    lines = ",\n".join(json.dumps(run, separators=(",", ":")) for run in runs)
    options.out.write_text(f'{head}, "runs": [\n{lines}\n]}}\n', encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
