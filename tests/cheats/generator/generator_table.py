"""Writes docs/reference/generated/cheat-generator.md from the results of cheat_generator.py.

python tests/cheats/generator/generator_table.py bench-out/cheat-generator/*.jsonl

A file may be compressed (.jsonl.gz), as the results of earlier runs in measurements/results are.
With --merged, all lines are also written into one compressed file, so that the table of several runs
can be made again."""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import mutants  # noqa: E402, F401  fills the tables of transforms
from outcomes import Outcome  # noqa: E402
from transform import REWRITES, TRANSFORMS, Reason  # noqa: E402

INTRODUCTION = HERE / "introduction.md"
OUT = HERE.parents[2] / "docs/reference/generated/cheat-generator.md"
HARMLESS = (
    Outcome.EQUIVALENT,
    Outcome.UNTRIGGERED,
    Outcome.NO_GAIN,
    Outcome.TOLERATED,
    Outcome.UNREACHED,
)
NOT_SENT = (Outcome.NOT_APPLICABLE, Outcome.NOT_JUDGED)
THROUGH = (Outcome.THROUGH, Outcome.UNDECIDED)
CONFIDENCE = 0.95
Line = dict[str, Any]


def read(paths: Iterable[Path]) -> list[Line]:
    """Returns the lines of all files. If several lines have the same key, returns the last of
    them."""
    found: dict[str, Line] = {}
    for path in paths:
        data = path.read_bytes()
        plain = gzip.decompress(data) if path.suffix == ".gz" else data
        for text in plain.decode("utf-8").splitlines(keepends=True):
            if text.endswith("\n"):  # the last line of a stopped run may be incomplete
                line = json.loads(text)
                found[line["key"]] = line
    return list(found.values())


def counts(lines: Iterable[Line]) -> Counter[Outcome]:
    return Counter(Outcome[line["outcome"]] for line in lines)


def row(head: str, lines: list[Line]) -> str:
    found = counts(lines)
    sent = sum(found.values()) - sum(found[o] for o in NOT_SENT)
    columns = [
        head,
        sent,
        found[Outcome.REFUSED],
        found[Outcome.BROKEN],
        *(found[outcome] for outcome in HARMLESS),
        sum(found[o] for o in THROUGH),
        sum(found[o] for o in NOT_SENT),
    ]
    return "| " + " | ".join(map(str, columns)) + " |"


HEAD = (
    "sent | refused | broken | the same | never ran | no gain | tolerated | too large here "
    "| **got through** | not sent |"
)


def cheats(lines: list[Line]) -> str:
    single = [line for line in lines if len(line["transforms"]) == 1]
    parts = [f"| transform | what it does | {HEAD}", "|---|---|" + "---|" * 10]
    for name, one in sorted(TRANSFORMS.items(), key=lambda item: item[1].kind.value):
        of = [line for line in single if line["transforms"] == [name]]
        parts.append(row(f"`{name}` ({one.kind.value}) | {one.text}", of))
    names = set(TRANSFORMS)
    parts.append(row("all | one transform", [i for i in single if i["transforms"][0] in names]))
    parts.append(row("all | two transforms", [i for i in lines if len(i["transforms"]) == 2]))
    return "\n".join(parts) + "\n"


def honest(lines: list[Line]) -> str:
    parts = [
        "| rewrite | what it does | sent | passed | **refused** | not sent |",
        "|---|---|---|---|---|---|",
    ]
    of = [line for line in lines if line["transforms"][0] in REWRITES]
    rows = [(f"`{name}` | {one.text}", [name]) for name, one in REWRITES.items()]
    for head, names in [*rows, ("all | ", list(REWRITES))]:
        found = counts(line for line in of if line["transforms"][0] in names)
        passed, refused = found[Outcome.HONEST_PASS], found[Outcome.HONEST_REFUSED]
        not_sent = sum(found[o] for o in NOT_SENT)
        parts.append(f"| {head} | {passed + refused} | {passed} | {refused} | {not_sent} |")
    return "\n".join(parts) + "\n"


def reasons(lines: list[Line]) -> str:
    found = Counter(line["reason"] for line in lines if line.get("reason"))
    rows = [f"| {reason.value} | {found[reason.name]} |" for reason in Reason]
    return "\n".join(["| why a transform does not apply | mutants |", "|---|---|", *rows]) + "\n"


def listed(lines: list[Line], outcomes: tuple[Outcome, ...]) -> str:
    of = [line for line in lines if Outcome[line["outcome"]] in outcomes]
    if not of:
        return "None.\n"
    rows = [
        f"| {line['operator']} | {' + '.join(line['transforms'])} | {line['device']} "
        f"| {Outcome[line['outcome']].value} |"
        for line in sorted(of, key=lambda line: (line["outcome"], line["operator"]))
    ]
    return (
        "\n".join(["| operator | transforms | device | finding |", "|---|---|---|---|", *rows])
        + "\n"
    )


def upper_bound(found: int, drawn: int) -> float:
    """Returns the largest share that the population may have, with CONFIDENCE, if `found` of `drawn`
    members that were drawn at random have the property (Clopper and Pearson, one-sided)."""
    low, high = 0.0, 1.0
    if found >= drawn:
        return high
    for _ in range(60):
        share = (low + high) / 2
        likely = sum(
            math.comb(drawn, i) * share**i * (1 - share) ** (drawn - i) for i in range(found + 1)
        )
        low, high = (share, high) if likely > 1 - CONFIDENCE else (low, share)
    return high


def rates(lines: list[Line]) -> str:
    """Returns a table of what was drawn at random and sent: how many got through, or were refused
    though they are honest, and how large the share of all such mutants may be."""
    drawn = [
        line for line in lines if line.get("drawn") and Outcome[line["outcome"]] not in NOT_SENT
    ]
    cheats = [line for line in drawn if line["transforms"][0] not in REWRITES]
    rows = [
        ("cheats of one transform", [i for i in cheats if len(i["transforms"]) == 1], THROUGH),
        ("cheats of two transforms", [i for i in cheats if len(i["transforms"]) == 2], THROUGH),
        (
            "honest rewrites",
            [i for i in drawn if i["transforms"][0] in REWRITES],
            (Outcome.HONEST_REFUSED,),
        ),
    ]
    parts = [
        "| drawn at random | operators | sent | got through, or refused though honest | share "
        "| share of all, at most (95 %) |",
        "|---|---|---|---|---|---|",
    ]
    for head, of, bad in rows:
        found = sum(counts(of)[outcome] for outcome in bad)
        operators = len({line["operator"] for line in of})
        share = f"{found / len(of):.2%} | {upper_bound(found, len(of)):.2%}" if of else "- | -"
        parts.append(f"| {head} | {operators} | {len(of)} | {found} | {share} |")
    return "\n".join(parts) + "\n"


def page(lines: list[Line]) -> str:
    devices = ", ".join(f"`{device}`" for device in sorted({line["device"] for line in lines}))
    found = counts(lines)
    sent = sum(found.values()) - sum(found[o] for o in NOT_SENT)
    operators = len({line["operator"] for line in lines})
    sizes = f"{sent} submissions over {operators} operators, on {devices}"
    text = INTRODUCTION.read_text(encoding="utf-8").replace("SIZES", sizes)
    return (
        "\n".join(
            [
                text,
                "## Rates\n",
                rates(lines),
                "## Cheats\n",
                cheats(lines),
                "## Honest rewrites\n",
                honest(lines),
                "## What got through, and honest submissions that were refused\n",
                listed(lines, (*THROUGH, Outcome.HONEST_REFUSED)),
                "## Passes that are within the tolerance, or wrong only in larger cases\n",
                listed(lines, (Outcome.TOLERATED, Outcome.UNREACHED)),
                "## Transforms that do not apply\n",
                reasons(lines),
            ]
        ).rstrip()
        + "\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the page of the generator of cheats.")
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--merged", type=Path, help="a file *.jsonl.gz with all lines")
    options = parser.parse_args()
    lines = read(options.results)
    options.out.write_text(page(lines), encoding="utf-8")
    if options.merged:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        options.merged.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
