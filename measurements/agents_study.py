"""Measures how much feedback and each feature of the reference agents improve results. Uses the
simulated model, which is not a language model.

    # This command writes measurements/results/agents-study.json and the tables of
    # docs/measurements/agents-study.md.
    python measurements/agents_study.py
    # This command measures correctness and speed on a GPU, and writes agents-study-cuda0.json.
    python measurements/agents_study.py --device cuda:0
    # This command writes the summary and the tables again, from the attempts in the file.
    python measurements/agents_study.py --tables

The study has two parts, and each part uses one server. The part `device` uses real verdicts on
`--device`. The part `fake` uses the device `fake`, which runs nothing: the simulated model writes a
speed into each kernel, and the device reports this speed. So this part covers the features of
agents that depend on times. Every agent gets the same operators, seeds and number of samples. So
the first answers are the same for all agents, and two agents are compared by pairs of attempts with
the same operator, seed and sample. MODELS contains the assumptions of the simulated model. If a
feature has an effect in this study, the agent's loop makes use of these assumptions. The effect
says nothing about any language model."""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents_study_tables import replace_tables, summary
from environment import environment

ROOT = Path(__file__).resolve().parent.parent
OPERATORS = ["vector_add", "relu", "gelu_tanh", "softmax_last_dim"]
START_S = 60.0

# The simulated model of each part. dead_end is the share of first ideas that no repair makes
# correct. insight is the share of failing repairs that a reflection saves (docs/reference/cli.md).
MODELS = {
    "device": "sim:{seed}?dead_end=0.4&repair=0.4&insight=0.4",
    "fake": "sim:{seed}?fake=1&compile_error=0.15&wrong=0.15&slow=0.1&repair=0.7&insight=0.3",
}
AGENTS = {
    "device": [
        "one_shot",
        "leader",
        "alphaevolve",
        "alphaevolve?attempts=9",
        "alphaevolve?attempts=9&islands=3",
        "geak",
        "geak?max_debug=2",
        "geak?max_debug=2&reflect=0",
        "geak?max_debug=2&cascade=0",
        "geak?max_debug=0",
        "geak?iterations=3&instances=3",
    ],
    "fake": [
        "one_shot",
        "leader",
        "alphaevolve",
        "alphaevolve?attempts=9",
        "alphaevolve?attempts=9&others=0",
        "alphaevolve?attempts=9&archive=1",
        "alphaevolve?attempts=9&islands=3&migrate=3",
        "geak",
        "geak?ancestors=1",
        "geak?optimize=0",
        "geak?iterations=3&instances=3",
    ],
}
TIMED_AGENTS = ["geak?ancestors=1", "geak?optimize=0"]  # options with no effect without times
SEEDS = {"device": [1, 2, 3], "fake": [1, 2, 3, 4]}
SAMPLES = {"device": 4, "fake": 12}
# The number of simultaneous attempts. Attempts on the fake device mostly wait for the disk.
JOBS = {
    "device": 2,
    "fake": 8,
}
COUNTED = ("compile", "run_tests", "profile")


@contextmanager
def serving(binary: str, device: str, folder: Path) -> Iterator[str]:
    """Runs a server while the `with` block runs, and yields the server's address."""
    command = [
        binary,
        "serve",
        "--http",
        "127.0.0.1:0",
        "--device",
        device,
        "--store",
        str(folder / "assay.db"),
    ]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ASSAY_STATE_DIR": str(folder / "state")},
    ) as server:
        try:
            assert server.stderr is not None
            lines = []
            for line in server.stderr:
                lines.append(line)
                if found := re.search(r"listening on (http://127\.0\.0\.1:\d+/mcp)", line):
                    break
            else:
                raise SystemExit("the server did not start: " + "".join(lines))
            threading.Thread(target=server.stderr.read, daemon=True).start()
            yield found[1]
        finally:
            server.terminate()
            server.wait(START_S)


def checked(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def calls_of(transcript: Path) -> Counter[str]:
    lines = [json.loads(line) for line in transcript.read_text().splitlines()]
    return Counter(line["tool"] for line in lines if line["kind"] == "tool_call")


def attempts_of(out: Path, report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the graded verdict and the cost of each attempt of one bench."""
    lines = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    replies = {
        (line["operator"], line["sample"]): line["replies"]
        for line in lines
        if line["kind"] == "finished"
    }
    sample_of = {line["run"]: line["sample"] for line in lines if line["kind"] == "run"}
    for row in report["operators"]:
        sample = sample_of[report["run"]["samples"][row["sample"] - 1]]
        calls = calls_of(out / "transcripts" / f"{row['operator']}.{sample}.jsonl")
        passed = row["outcome"] == "pass"
        kept = {
            "operator": row["operator"],
            "sample": sample,
            "passed": passed,
            "perf": row["perf"] if passed else 0.0,
        }
        yield {
            **kept,
            "replies": replies[row["operator"], sample],
            **{tool: calls[tool] for tool in COUNTED},
        }


def study(part: str, device: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    agents = AGENTS[part] + (TIMED_AGENTS if part == "device" and device != "cpu" else [])
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        outs: list[tuple[str, int, Path]] = []
        with serving(options.binary, device, folder) as url:
            for agent in agents:
                for seed in SEEDS[part][: options.most_seeds]:
                    out = folder / f"out{len(outs)}"
                    outs.append((agent, seed, out))
                    command = [
                        options.binary,
                        "bench",
                        "--server",
                        url,
                        "--agent",
                        agent,
                        "--model",
                        MODELS[part].format(seed=seed),
                    ]
                    command += [
                        "--operators",
                        ",".join(options.operators),
                        "--samples",
                        str(options.samples or SAMPLES[part]),
                    ]
                    checked(
                        [*command, "--jobs", str(options.jobs or JOBS[part]), "--out", str(out)]
                    )
        for agent, seed, out in outs:
            runs = re.findall(r'"run":"(run_\w+)"', (out / "journal.jsonl").read_text())
            command = [
                options.binary,
                "report",
                "--format",
                "json",
                "--store",
                str(folder / "assay.db"),
            ]
            report = json.loads(
                checked(command + [word for run in runs for word in ("--run", run)])
            )
            rows += [
                {"part": part, "agent": agent, "seed": seed, **attempt}
                for attempt in attempts_of(out, report)
            ]
    return rows


def write(document: dict[str, Any], out: Path) -> None:
    """Writes the result file, with one line for each of the thousands of attempts."""
    head = {key: value for key, value in document.items() if key != "attempts"}
    attempts = ",\n  ".join(json.dumps(attempt) for attempt in document["attempts"])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(head, indent=1)[:-2] + f',\n "attempts": [\n  {attempts}\n ]\n}}\n')


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N, for the part `device`")
    parser.add_argument(
        "--parts", nargs="*", default=["device", "fake"], choices=["device", "fake"]
    )
    parser.add_argument("--operators", nargs="*", default=OPERATORS)
    parser.add_argument(
        "--samples",
        type=int,
        default=0,
        help="samples per operator and seed; 0: the default of the part",
    )
    parser.add_argument("--most-seeds", type=int, default=None)
    parser.add_argument(
        "--jobs", type=int, default=0, help="attempts at once; 0: the default of the part"
    )
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument(
        "--docs",
        type=Path,
        default=None,
        help="the page whose tables are replaced; default: docs/measurements/agents-study.md, unless --out is given",
    )
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    options = parser.parse_args()
    device_name = "" if options.device == "cpu" else "-" + options.device.replace(":", "")
    out = options.out or ROOT / f"measurements/results/agents-study{device_name}.json"
    docs = options.docs or (
        ROOT / "docs/measurements/agents-study.md"
        if options.out is None and options.device == "cpu"
        else None
    )
    if options.tables:
        document = json.loads(out.read_text())
        document["summary"] = summary(document["attempts"])
    else:
        begin = time.monotonic()
        document = {
            "what": __doc__,
            "device": options.device,
            "models": MODELS,
            "took_s": 0.0,
            "processor_s": 0.0,
            "environment": environment(),
        }
        attempts = [
            row
            for part in options.parts
            for row in study(part, "fake" if part == "fake" else options.device, options)
        ]
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        document |= {
            "took_s": round(time.monotonic() - begin, 1),
            "processor_s": round(used.ru_utime + used.ru_stime, 1),
            "summary": summary(attempts),
            "attempts": attempts,
        }
    write(document, out)
    print(json.dumps(document["summary"], indent=1))
    if docs is not None:
        docs.write_text(replace_tables(docs.read_text(), document))


if __name__ == "__main__":
    main()
