"""Judges the answers that TritonBench's authors published with their benchmark, and makes the
benchmark's table of call accuracy and execution accuracy from the verdicts.

    assay import tritonbench-g CHECKOUT/data/TritonBench_G_v1 --out SUITE
    python measurements/suites/published_answers.py tasks CHECKOUT --suite SUITE --out tasks.jsonl.gz
    python measurements/answers.py --answers tasks.jsonl.gz --suite SUITE --device cuda:0 \
        --agents 96 --seconds 600 --out RESULT
    python measurements/suites/published_answers.py table CHECKOUT --suite SUITE --out PAGE RESULT...

The answers are in the folder LLM_generated of a checkout of thunlp/TritonBench: one file for each
set, that is for a model and a prompt. An answer belongs to the golden file that is its label. Equal
answers to one golden file are judged once.

The order of the tasks is random and always the same, and all operators of an answer follow each
other. So a run that ends early has judged a random sample of the answers, except for the few that
were in progress."""

from __future__ import annotations

import argparse
import collections
import gzip
import hashlib
import json
import math
import random
import re
import sys
from pathlib import Path
from typing import Any

SEED = 20250220
ID_LETTERS = 20
SETS = "LLM_generated/Bench_G_*/*.jsonl"
GOLDEN = "data/TritonBench_G_v1"
SEPARATOR = "#" * 146  # between the kernel part and the test part of a golden file
FENCED = re.compile(r"```[ \t]*\w*[ \t]*\n(.*?)(?:\n?```|\Z)", re.DOTALL)
# The code ran to its end. The last three are checks that the benchmark does not make.
RAN = {
    "none",
    "wrong_result",
    "output_mismatch",
    "unattributed",
    "floor_violation",
    "canary_violation",
}
# Not the answer's fault, so there is no verdict.
OURS = {"internal_error", "device_unhealthy", "cancelled"}
Z_95 = 1.96

Verdicts = dict[tuple[str, str], str]  # the kind of error, by answer and operator


def code_of(reply: str) -> str:
    """Returns the longest fenced block of a reply, or the whole reply if it has no fence."""
    return max(FENCED.findall(reply), key=len, default=reply)


def answer_id(file: str, code: str) -> str:
    return hashlib.sha256(f"{file}\0{code.strip()}".encode()).hexdigest()[:ID_LETTERS]


def answers_of(checkout: Path) -> dict[str, list[tuple[str, str]]]:
    """Returns pairs of a golden file and a code, by set."""
    files = {
        path.read_text(encoding="utf-8").partition(SEPARATOR)[0].strip(): path.name
        for path in (checkout / GOLDEN).glob("*.py")
    }
    if not files:
        raise SystemExit(f"{checkout / GOLDEN} has no Python files; want a checkout of TritonBench")
    found: dict[str, list[tuple[str, str]]] = {}
    for path in sorted(checkout.glob(SETS)):
        name = f"{path.parent.name.removeprefix('Bench_G_')}/{path.stem}"
        for line in path.read_text(encoding="utf-8").splitlines():
            answer = json.loads(line)
            file = files.get(answer["label"].strip()) or by_beginning(files, answer["label"])
            if file:
                found.setdefault(name, []).append((file, code_of(answer["predict"])))
    return found


def by_beginning(files: dict[str, str], label: str) -> str | None:
    """Some labels are an older version of their golden file. Such a label belongs to the only file
    that contains its beginning."""
    beginning = label.strip()[:300]
    matching = [name for text, name in files.items() if beginning in text]
    return matching[0] if len(matching) == 1 else None


def operators_of(suite: Path) -> dict[str, list[str]]:
    """Returns the names of the operators of each golden file."""
    record = json.loads((suite / "import.json").read_text(encoding="utf-8"))
    return {one["file"]: [op["name"] for op in one["operators"]] for one in record["files"]}


def tasks(checkout: Path, suite: Path) -> list[dict[str, str]]:
    operators = operators_of(suite)
    every = {answer_id(*one): one for found in answers_of(checkout).values() for one in found}
    names = sorted(every)
    random.Random(SEED).shuffle(names)
    return [
        {"id": f"{name}:{operator}", "operator": operator, "code": every[name][1]}
        for name in names
        for operator in operators.get(every[name][0], [])
    ]


def verdicts_of(results: list[Path]) -> Verdicts:
    found: Verdicts = {}
    for path in results:
        for sample in json.loads(path.read_text(encoding="utf-8"))["after"]["samples"]:
            if sample[2] not in OURS:
                found[sample[0].partition(":")[0], sample[1]] = sample[2]
    return found


def wilson(successes: int, count: int) -> tuple[float, float]:
    """Returns the 95 % interval of a share, in percent."""
    if not count:
        return 0.0, 100.0
    share, z2 = successes / count, Z_95 * Z_95
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = (
        Z_95 / (1 + z2 / count) * math.sqrt(share * (1 - share) / count + z2 / (4 * count * count))
    )
    return 100 * max(0.0, middle - half), 100 * min(1.0, middle + half)


def row_of(
    answers: list[tuple[str, str]], operators: dict[str, list[str]], verdicts: Verdicts
) -> dict[str, Any]:
    """Counts the answers of a set. An answer is judged if all operators of its file have verdicts."""
    count: collections.Counter[str] = collections.Counter(answers=len(answers))
    for file, code in answers:
        names = operators.get(file, [])
        if not names:
            continue
        count["evaluable"] += 1
        kinds = [verdicts.get((answer_id(file, code), name)) for name in names]
        if None in kinds:
            continue
        count["judged"] += 1
        count["call"] += all(kind in RAN for kind in kinds)
        count["passed"] += all(kind == "none" for kind in kinds)
    return dict(count)


def percent(successes: int, count: int) -> str:
    if not count:
        return "-"
    low, high = wilson(successes, count)
    return f"{100 * successes / count:.1f} ({low:.1f} to {high:.1f})"


def page(
    rows: dict[str, dict[str, Any]],
    verdicts: Verdicts,
    missing: int,
    environment: dict[str, Any],
) -> str:
    """Returns the page with the table, sorted by execution accuracy. `missing` is the number of
    tasks without a verdict."""

    def accuracy(row: dict[str, Any]) -> float:
        return row.get("passed", 0) / max(1, row.get("judged", 0))

    lines = [
        "# Published answers to TritonBench-G",
        "",
        "`measurements/suites/published_answers.py` made this page. Do not edit it.",
        "",
        "The authors of TritonBench published 26 sets of answers of language models with their",
        "benchmark (thunlp/TritonBench, folder `LLM_generated`). Assay judged them with `run_tests`",
        f"on an {environment['gpu'].partition(',')[0]}, with Triton {environment['triton']}:"
        f" {len(verdicts):,} verdicts. {missing:,} of the tasks have no verdict.",
        "An answer is correct if all operators that Assay made of its golden file pass.",
        "",
        "- *judged*: answers with a verdict on every operator of their file.",
        "- *call accuracy*: the code ran to its end on every call, in percent of the judged answers,",
        "  with the 95 % Wilson interval.",
        "- *execution accuracy*: all outputs are right, and the answer's own kernels computed them.",
        "",
        "Thirty of the verdicts were [read one by one](verdicts-by-hand.md).",
        "",
        "| set | answers | with operators | judged | call accuracy | execution accuracy |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in sorted(rows.items(), key=lambda item: (-accuracy(item[1]), item[0])):
        judged = row.get("judged", 0)
        lines.append(
            f"| `{name}` | {row['answers']} | {row.get('evaluable', 0)} | {judged} | "
            f"{percent(row.get('call', 0), judged)} | {percent(row.get('passed', 0), judged)} |"
        )
    kinds = collections.Counter(verdicts.values())
    lines += [
        "",
        "## Why the figures differ from the benchmark's",
        "",
        "The file `measurements/results/published-answers-h200.json` has every verdict. Its tasks",
        "without a verdict ended as `internal_error`, or were in progress at the end.",
        "",
        "TritonBench compares what the test parts print, and 177 of its 184 test parts print nothing.",
        "So its execution accuracy is call accuracy for these files. Assay compares every output",
        "tensor of every call with the golden kernel's. Files without operators are left out here;",
        "the benchmark counts their answers too. A name with `comp` is a set of detailed instructions,",
        "`simp` of short ones, and `rag` of answers to a prompt with a similar example.",
        "",
        "GEAK's authors judged GPT-4o on their repaired version of the benchmark, on an AMD MI300",
        "([arXiv 2507.23194](https://arxiv.org/abs/2507.23194), table 2): call accuracy 10.9 % without",
        "an example and 14.1 % with one, execution accuracy 7.1 % and 9.2 %. They asked the model",
        "anew, and they count all 184 files. The figures of TritonBench's own paper",
        "([arXiv 2502.14752](https://arxiv.org/abs/2502.14752)) are not quoted here, because the text",
        "versions of the paper that we could read have empty tables.",
        "",
        "## Kinds of verdicts",
        "",
        "| kind | verdicts | share |",
        "|---|---|---|",
    ]
    lines += [
        f"| `{kind}` | {count} | {100 * count / len(verdicts):.1f} % |"
        for kind, count in kinds.most_common()
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("tasks", "table"))
    parser.add_argument("checkout", type=Path, help="a checkout of thunlp/TritonBench")
    parser.add_argument("results", type=Path, nargs="*", help="results of measurements/answers.py")
    parser.add_argument("--suite", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_intermixed_args()
    if options.action == "tasks":
        with gzip.open(options.out, "wt", encoding="utf-8") as stream:
            for task in tasks(options.checkout, options.suite):
                stream.write(json.dumps(task) + "\n")
        return 0
    if not options.results:
        parser.error("table needs at least one result")
    verdicts = verdicts_of(options.results)
    operators = operators_of(options.suite)
    rows = {
        name: row_of(found, operators, verdicts)
        for name, found in answers_of(options.checkout).items()
    }
    missing = sum(
        (task["id"].partition(":")[0], task["operator"]) not in verdicts
        for task in tasks(options.checkout, options.suite)
    )
    environment = json.loads(options.results[0].read_text(encoding="utf-8"))["environment"]
    options.out.write_text(page(rows, verdicts, missing, environment), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
