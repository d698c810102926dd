#!/usr/bin/env python3
"""Compares the verdicts of two devices on the same submissions, and writes the page
docs/reference/generated/agreement.md.

    # `judge` writes the verdicts of one device, one JSON line each. If it was stopped, run it
    # again: it skips the submissions that are already judged. With `--also-in`, it judges only the
    # submissions that have a verdict in this file.
    python measurements/agreement.py judge --device cpu --oracles --limit-s 500 --out cpu.jsonl
    python measurements/agreement.py judge --device cpu --answers tasks.jsonl.gz \
        --serve=--suite --serve=SUITE --also-in gpu.json --limit-s 500 --out cpu.jsonl
    # `compare` writes the page and the counts.
    python measurements/agreement.py compare --cpu cpu.jsonl --gpu gpu.json --page PAGE --out RESULT

A file of answers has lines {"id", "operator", "code"}. A file of verdicts is one that `judge` wrote,
a result of measurements/answers.py, or a file of the generator of cheats
(tests/cheats/generator/cheat_generator.py). Files of lines may end in .gz. Two verdicts agree if both
are a pass or neither is a pass. A pair is not compared if one of its verdicts is `unsupported` or an
error of Assay, because such a verdict says nothing about the submission. The cause of a disagreement
follows from the kinds of the two verdicts, and never from their texts."""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

sys.path.insert(0, str(Path(__file__).resolve().parent))
from stdio_client import StdioClient, serve_command

ROOT = Path(__file__).resolve().parent.parent
Key = tuple[str, str]  # id of the submission, name of the operator
WAIT_S = 20  # the time that one call of the tool `job` waits

INCONCLUSIVE = {"cancelled", "aborted", "device_unhealthy", "internal_error", "cut", "hang"}
STRAY = {"canary_violation", "gpu_fault"}
LIMITS = {"timeout", "memory_limit", "process_limit"}
# Maps each cause of a disagreement to its explanation in the generated page.
CAUSES = {
    "skipped_case": "the verdict without a GPU is a pass that names cases which it did not run; the GPU runs all",
    "compiler": "the GPU's verdict is an error of the compiler, and the other one is a pass",
    "stray_access": "the interpreter reports an access to memory of no tensor; on the GPU it goes unnoticed",
    "fault": "a kernel faults on the GPU or writes outside its buffers, and passes in the interpreter",
    "numerics": "the result is wrong on one device only",
    "limit": "the interpreter reaches a limit of time or memory",
    "attribution": "only one device finds that torch, and not a kernel, made the outputs",
    "exception": "Python code fails on one device only",
}


def opened(path: Path, mode: str = "rt") -> TextIO:
    return (gzip.open if path.suffix == ".gz" else open)(path, mode, encoding="utf-8")  # type: ignore[operator,return-value,no-any-return]


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    with opened(path) as stream:
        for line in stream:
            if line.endswith("\n"):  # the last line of a stopped run may be incomplete
                yield json.loads(line)


def verdicts_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yields the verdicts of a file of any kind."""
    if path.suffix == ".json":
        result = json.loads(path.read_text(encoding="utf-8"))
        for name, operator, kind_of_error, stage, _, stages, *_ in result["after"]["samples"]:
            found = with_outcome(name, operator, kind_of_error, stage)
            # On a GPU, only the host tier has the stage `run`.
            if found["outcome"] == "pass" and result["device"] != "cpu" and "run" in stages:
                found["tier"] = "host"
            yield found
        return
    for line in lines_of(path):
        if "transforms" not in line:
            yield line
        elif "verdict" in line:
            key = f"{'+'.join(line['transforms'])} {line['seed']}"
            yield with_outcome(key, line["operator"], line["verdict"].partition(":")[2], None)


def with_outcome(name: str, operator: str, error_kind: str, stage: str | None) -> dict[str, Any]:
    outcome = "pass" if error_kind == "none" else "error"
    return {
        "id": name,
        "operator": operator,
        "outcome": outcome,
        "error_kind": error_kind,
        "stage": stage,
    }


# The functions below judge submissions.


def oracles() -> Iterator[dict[str, str]]:
    for path in sorted((ROOT / "operators").glob("*/*/oracle.py")):
        yield {"id": "oracle", "operator": path.parent.name, "code": path.read_text("utf-8")}


def summary_of(task: dict[str, str], answer: dict[str, Any]) -> dict[str, Any]:
    """Returns the facts of a verdict that a comparison needs."""
    keys = ("outcome", "error_kind", "stage", "tier", "stage_ms")
    cases = [[case.get("id"), case.get("outcome")] for case in answer.get("cases", [])]
    return {
        "id": task["id"],
        "operator": task["operator"],
        **{key: answer.get(key) for key in keys},
        "cases": cases,
        "skipped": sum(
            len(skip["ids"]) + skip["hidden"] for skip in answer.get("skipped_cases", [])
        ),
    }


def judge_one(client: StdioClient, task: dict[str, str]) -> dict[str, Any]:
    arguments = {"operator": task["operator"], "code": task["code"]}
    answer = client.call("run_tests", arguments).get("structuredContent") or {}
    while answer.get("status") == "running":
        wait = {"job": answer["job"], "wait_s": WAIT_S}
        answer = client.call("job", wait).get("structuredContent") or {}
    return summary_of(task, answer)


def judge(options: argparse.Namespace) -> int:
    tasks = list(oracles()) if options.oracles else []
    for path in options.answers:
        tasks += list(lines_of(path))
    if options.also_in:
        known = {key_of(one) for path in options.also_in for one in verdicts_of(path)}
        tasks = [task for task in tasks if key_of(task) in known]
    done = {key_of(one) for one in lines_of(options.out)} if options.out.exists() else set()
    if not tasks:
        raise SystemExit("there is no submission to judge: name --oracles or --answers")
    waiting: queue.SimpleQueue[dict[str, str]] = queue.SimpleQueue()
    for task in tasks:
        if key_of(task) not in done:
            waiting.put(task)
    print(f"{waiting.qsize()} of {len(tasks)} submissions to judge", flush=True)
    end = time.monotonic() + options.limit_s
    lock = threading.Lock()
    without: list[Key] = []
    with opened(options.out, "at") as out, tempfile.TemporaryDirectory() as scratch:

        def work(number: int) -> None:
            command = serve_command(
                options.binary, options.device, Path(scratch) / f"{number}.db", *options.serve
            )
            client = StdioClient(command)
            while time.monotonic() < end:
                try:
                    task = waiting.get_nowait()
                except queue.Empty:
                    break
                verdict = judge_one(client, task)
                with lock:
                    if verdict["outcome"] is None:  # for example, the suite lacks the operator
                        without.append(key_of(task))
                        continue
                    out.write(json.dumps(verdict) + "\n")
                    out.flush()
            client.close()

        threads = [threading.Thread(target=work, args=(i,)) for i in range(options.servers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(f"{waiting.qsize()} left, {len(without)} without a verdict: {without[:3]}", flush=True)
    return 0 if waiting.empty() else 1


# The functions below compare the verdicts of two devices.


@dataclass(frozen=True)
class Pair:
    operator: str
    cpu: dict[str, Any]
    gpu: dict[str, Any]

    @property
    def agrees(self) -> bool:
        return passes(self.cpu) == passes(self.gpu)

    @property
    def judged(self) -> bool:
        return is_judged(self.cpu) and is_judged(self.gpu) and not self.needs_gpu

    @property
    def needs_gpu(self) -> bool:
        """Returns True if the submission could run on the GPU machine only because its jail gave it
        access to the GPU. On a machine without a GPU there is no such access."""
        return self.gpu.get("tier") == "host" and kind(self.cpu) == "not_recordable"


def key_of(one: dict[str, Any]) -> Key:
    return str(one["id"]), str(one["operator"])


def kind(verdict: dict[str, Any]) -> str:
    return str(verdict.get("error_kind") or "none")


def passes(verdict: dict[str, Any]) -> bool:
    return verdict.get("outcome") == "pass"


def is_judged(verdict: dict[str, Any]) -> bool:
    return verdict.get("outcome") in ("pass", "fail", "error") and kind(
        verdict
    ) not in INCONCLUSIVE | {"unsupported"}


def cause_of(pair: Pair) -> str:
    """Returns the cause of a disagreement, one of CAUSES. It follows from the kind of the verdict
    that is not a pass."""
    failed = kind(pair.gpu if passes(pair.cpu) else pair.cpu)
    if failed in STRAY:
        return "fault" if passes(pair.cpu) else "stray_access"
    if failed in LIMITS:
        return "limit"
    if failed == "unattributed":
        return "attribution"
    if passes(pair.cpu) and pair.cpu.get("skipped"):
        return "skipped_case"
    if failed == "compilation_error":
        return "compiler"
    return "numerics" if failed in ("wrong_result", "output_mismatch") else "exception"


def pairs_of(cpu: list[Path], gpu: list[Path]) -> list[Pair]:
    """Returns a pair for each submission that both devices have judged. If a device has several
    verdicts for a submission, the last one counts."""
    of_cpu = {key_of(one): one for path in cpu for one in verdicts_of(path)}
    of_gpu = {key_of(one): one for path in gpu for one in verdicts_of(path)}
    return [Pair(key[1], of_cpu[key], of_gpu[key]) for key in of_cpu if key in of_gpu]


def figures_of(pairs: list[Pair]) -> dict[str, Any]:
    judged = [pair for pair in pairs if pair.judged]
    agreeing = [pair for pair in judged if pair.agrees]
    unjudged = collections.Counter(
        "host_tier" if pair.needs_gpu else f"cpu {kind(pair.cpu)}, gpu {kind(pair.gpu)}"
        for pair in pairs
        if not pair.judged
    )
    rows = sorted(
        (pair.operator, str(pair.cpu["id"]), cause_of(pair), kind(pair.cpu), kind(pair.gpu))
        for pair in judged
        if not pair.agrees
    )
    return {
        "submissions": len(pairs),
        "compared": len(judged),
        "agree": len(agreeing),
        "agree_pass": sum(passes(pair.gpu) for pair in agreeing),
        "same_kind": sum(kind(pair.cpu) == kind(pair.gpu) for pair in judged),
        "agreement": round(len(agreeing) / len(judged), 5) if judged else None,
        "not_compared": dict(sorted(unjudged.items())),
        "disagreements": [
            {"operator": operator, "id": name, "cause": cause, "cpu": cpu, "gpu": gpu}
            for operator, name, cause, cpu, gpu in rows
        ],
    }


def page_of(figures: dict[str, Any], about: str) -> str:
    share = "none" if figures["agreement"] is None else f"{figures['agreement']:.2%}"
    lines = [
        "# Agreement of verdicts with and without a GPU",
        "",
        "Generated by `measurements/agreement.py compare`; do not edit.",
        "",
        about,
        "",
        "| | number |",
        "|---|---|",
        f"| submissions with a verdict of both devices | {figures['submissions']} |",
        f"| compared | {figures['compared']} |",
        f"| both pass, or none passes | {figures['agree']} ({share}) |",
        f"| both pass | {figures['agree_pass']} |",
        f"| the same `error_kind` | {figures['same_kind']} |",
    ]
    lines += ["", "Not compared, because a device did not judge the submission:", ""]
    lines += ["| verdicts | number |", "|---|---|"]
    lines += [f"| {name} | {count} |" for name, count in figures["not_compared"].items()]
    lines += ["", "## Disagreements", ""]
    if figures["disagreements"]:
        lines += ["| operator | submission | cause | CPU | GPU |", "|---|---|---|---|---|"]
    else:
        lines += ["None."]
    lines += [
        f"| {row['operator']} | `{row['id']}` | `{row['cause']}` | `{row['cpu']}` | `{row['gpu']}` |"
        for row in figures["disagreements"]
    ]
    lines += ["", "## Causes", "", "| cause | meaning |", "|---|---|"]
    lines += [f"| `{cause}` | {meaning} |" for cause, meaning in CAUSES.items()]
    return "\n".join(lines) + "\n"


def compare(options: argparse.Namespace) -> int:
    figures = figures_of(pairs_of(options.cpu, options.gpu))
    if options.out:
        options.out.write_text(json.dumps({"about": options.about, **figures}, indent=1) + "\n")
    if options.page:
        options.page.write_text(page_of(figures, options.about))
    print(json.dumps({k: v for k, v in figures.items() if k != "disagreements"}, indent=1))
    return 0


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parts = parser.add_subparsers(required=True)
    one = parts.add_parser("judge", help="judge submissions on one device")
    one.add_argument("--device", required=True)
    one.add_argument("--binary", type=Path, default=ROOT / "build/release/bin/assay")
    one.add_argument("--oracles", action="store_true", help="judge the oracle of every operator")
    one.add_argument("--answers", type=Path, action="append", default=[])
    one.add_argument(
        "--also-in", type=Path, action="append", default=[], help="verdicts of another device"
    )
    one.add_argument("--servers", type=int, default=1, help="servers that judge at the same time")
    one.add_argument("--limit-s", type=float, default=1e9, help="begin no job after this time")
    one.add_argument("--serve", action="append", default=[], help="a further word for `serve`")
    one.add_argument("--out", type=Path, required=True)
    one.set_defaults(run=judge)
    two = parts.add_parser("compare", help="compare two files of verdicts")
    two.add_argument("--cpu", type=Path, action="append", required=True, help="of one device")
    two.add_argument("--gpu", type=Path, action="append", required=True, help="of the other one")
    two.add_argument("--about", default="", help="a paragraph of the page: sources and machines")
    two.add_argument("--page", type=Path)
    two.add_argument("--out", type=Path)
    two.set_defaults(run=compare)
    options = parser.parse_args(argv)
    return int(options.run(options))


if __name__ == "__main__":
    sys.exit(main())
