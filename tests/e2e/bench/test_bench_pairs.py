"""Runs `assay bench` with several agents and models. Each pair of agent and model has a folder and
a report. All pairs share one budget and one comparison. Also tests `--samples` and the limits on
time and money."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llm_endpoint import KEY, Endpoint, env_of, error

Run = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 5  # of a bench; its first request comes well before the end of this time
PAIRS = [
    "one_shot_openai-compatible_m",
    "one_shot_openai-compatible_n",
    "leader_rounds_2_openai-compatible_m",
    "leader_rounds_2_openai-compatible_n",
]


def journal_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def finished_in(folder: Path) -> list[dict[str, Any]]:
    return [line for line in journal_of(folder) if line["kind"] == "finished"]


def tree_with_prices(tmp_path: Path, prices: str) -> Path:
    """Returns a copy of the source tree with another price table."""
    tree = tmp_path / "tree"
    (tree / "reference_agents/llm").mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name not in ("reference_agents", ".git"):
            (tree / entry.name).symlink_to(entry)
    for entry in (ROOT / "reference_agents").iterdir():
        if entry.name != "llm":
            (tree / "reference_agents" / entry.name).symlink_to(entry)
    (tree / "reference_agents/llm/prices.toml").write_text(prices)
    return tree


def priced(dollars_per_million: float) -> str:
    lines = [
        f'"openai-compatible:{name}" = {{ input = {dollars_per_million}, output = 0, source = "s" }}'
        for name in "mn"
    ]
    return "\n".join(['[sources.s]\nurl = "u"\ndate = "2026-01-01"', "[models]", *lines, ""])


def pairs_arguments(tmp_path: Path, *more: str) -> list[str]:
    which = [
        "--agent",
        "one_shot",
        "--agent",
        "leader?rounds=2",
        "--model",
        "openai-compatible:m",
        "--model",
        "openai-compatible:n",
    ]
    where = [
        "--device",
        "fake",
        "--store",
        str(tmp_path / "s.db"),
        "--out",
        str(tmp_path / "out"),
        "--operators",
        "vector_add,relu",
    ]
    return ["bench", *which, *where, *more]


def test_every_agent_with_every_model(assay: Run, model: Endpoint, tmp_path: Path) -> None:
    model.answers = {"relu": "# fake: fail"}
    done = assay(*pairs_arguments(tmp_path, "--jobs", "3", "--samples", "2"), **env_of(model))
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(PAIRS)
    for pair in PAIRS:
        assert len(finished_in(tmp_path / "out" / pair)) == 4
        assert len(list((tmp_path / "out" / pair / "transcripts").iterdir())) == 4
    # For each pair, the bench prints one report over both samples. Then it compares the pairs once.
    assert done.stdout.count("2 samples, runs run_") == 4 and done.stdout.count("pass@2 ") == 4
    table = done.stdout[done.stdout.index("Comparison") :]
    assert len(re.findall(r"openai-compatible:[mn] +\w+ +4 of 4 +50\.0 %", table)) == 4, table
    assert "not ranked" in table
    again = assay(*pairs_arguments(tmp_path, "--samples", "2", "--resume"), **env_of(model))
    assert again.returncode == 0 and table in again.stdout


def test_a_single_pair_keeps_its_folder_and_has_no_comparison(
    assay: Run, model: Endpoint, tmp_path: Path
) -> None:
    where = [
        "--store",
        str(tmp_path / "s.db"),
        "--out",
        str(tmp_path / "out"),
        "--operators",
        "vector_add",
        "--device",
        "fake",
    ]
    done = assay("bench", "--model", "openai-compatible:m", *where, **env_of(model))
    assert done.returncode == 0 and (tmp_path / "out/journal.jsonl").exists()
    assert "Comparison" not in done.stdout


def test_all_pairs_share_one_budget(assay: Run, model: Endpoint, tmp_path: Path) -> None:
    """Checks that one budget limits all pairs together. Each reply costs $1, because the endpoint
    reports 100 tokens and a token costs $0.01. Before each request, the bench reserves the maximum
    cost of the request. The budget is the maximum cost of the first request plus $4.50. So the
    bench can send at least four requests, but not one for each of the eight attempts."""
    tree = tree_with_prices(tmp_path, priced(10_000))
    environment = {**env_of(model), "ASSAY_ROOT": str(tree)}
    arguments = pairs_arguments(tmp_path, "--jobs", "1")
    probe = assay(*pairs_arguments(tmp_path, "--max-cost", "0.5"), **environment)
    found = re.search(r"the next request could cost \$([0-9.]+)", probe.stderr)
    assert probe.returncode == 2 and found is not None and not model.asked, probe.stderr
    limit = f"{4.5 + float(found[1]):.2f}"
    stopped = assay(*arguments, "--resume", "--max-cost", limit, **environment)
    assert stopped.returncode == 2, stopped.stderr
    assert (
        4 <= len(model.asked) < 8
        and "spending limit reached: $" in stopped.stderr
        and "--resume continues" in stopped.stderr
    )
    assert "Attempts that are not finished count as failures" in stopped.stdout
    paid = len(model.asked)
    done = assay(*arguments, "--resume", "--max-cost", "1000", **environment)
    assert done.returncode == 0, done.stderr
    costs = [line["cost_usd"] for pair in PAIRS for line in finished_in(tmp_path / "out" / pair)]
    assert sum(costs) == pytest.approx(len(model.asked)) and len(model.asked) > paid
    assert re.search(r"of about \$", done.stderr) and "cost per solved" in done.stdout


def test_a_limit_of_time_starts_nothing_more_and_ends_what_runs(
    assay: Run, model: Endpoint, tmp_path: Path
) -> None:
    model.hold(at_once=0)

    def go_on_after_the_limit() -> None:
        """The bench has begun when the model is asked, so its limit is over LIMIT_S later."""
        model.wait_until_asked()
        time.sleep(LIMIT_S)
        model.go_on()

    threading.Thread(target=go_on_after_the_limit, daemon=True).start()
    stopped = assay(*pairs_arguments(tmp_path, "--max-time", f"{LIMIT_S}s"), **env_of(model))
    assert stopped.returncode == 2, stopped.stderr
    assert f"stopped: the time limit of {LIMIT_S} s" in stopped.stderr
    ended = sum(len(finished_in(tmp_path / "out" / pair)) for pair in PAIRS)
    assert (
        0 < ended < 8 and stopped.stderr.count("not finished ") == 0
    )  # no attempt was interrupted
    done = assay(*pairs_arguments(tmp_path, "--max-time", "10m", "--resume"), **env_of(model))
    assert done.returncode == 0, done.stderr
    assert f"[{ended + 1}/8]" in done.stderr and "left" in done.stderr
    assert sum(len(finished_in(tmp_path / "out" / pair)) for pair in PAIRS) == 8


def test_a_refused_key_stops_its_model_and_not_the_other_one(
    assay: Run, model: Endpoint, tmp_path: Path
) -> None:
    model.always = error(401, "no such key " + KEY)
    where = [
        "--store",
        str(tmp_path / "s.db"),
        "--out",
        str(tmp_path / "out"),
        "--operators",
        "vector_add,gelu_tanh",
        "--device",
        "fake",
    ]
    arguments = ["bench", "--model", "openai-compatible:m", "--model", "scripted:demo", *where]
    stopped = assay(*arguments, **env_of(model))
    assert (
        stopped.returncode == 2
        and "HTTP 401" in stopped.stderr
        and KEY not in stopped.stderr + stopped.stdout
    )
    assert model.requests == 1  # the bench stops after the first refusal
    assert len(finished_in(tmp_path / "out/one_shot_scripted_demo")) == 2
    model.always = None
    done = assay(*arguments, "--resume", **env_of(model))
    assert done.returncode == 0 and len(model.asked) == 2, done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("--model", "sim:7", "--model", "sim:7"), 64, ("sim:7 is given twice",)),
        (
            ("--agent", "geak", "--agent", "geak", "--model", "sim:7"),
            64,
            ("geak is given twice", "--samples"),
        ),
        (
            ("--agent", "leader?rounds=4", "--agent", "leader_rounds=4", "--model", "sim:7"),
            67,
            ("unknown agent",),
        ),
        (
            ("--model", "sim:7", "--model", "opnai:gpt-5"),
            67,
            ("unknown provider 'opnai'", "anthropic"),
        ),
        (("--model", "sim:7", "--max-time", "soon"), 64, ("--max-time", "1h30m")),
        (("--model", "sim:7", "--replay", "there"), 64, ("--replay",)),
        (("--replay", "nowhere"), 66, ("no journal", "nowhere")),
    ],
)
def test_bad_arguments(
    assay: Run, arguments: tuple[str, ...], status: int, words: tuple[str, ...]
) -> None:
    done = assay("bench", *arguments)
    assert done.returncode == status, done.stderr
    for word in words:
        assert word in done.stderr


def test_a_comparison_by_a_running_server(
    binary: str, assay: Run, model: Endpoint, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [
            binary,
            "serve",
            "--http",
            "127.0.0.1:0",
            "--device",
            "fake",
            "--store",
            str(tmp_path / "h.db"),
        ],
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:\d+/mcp", server.stderr.readline())
            assert found is not None
            models = ["--model", "scripted:demo", "--model", "openai-compatible:m"]
            where = [
                "--server",
                found[0],
                "--out",
                str(tmp_path / "out"),
                "--operators",
                "vector_add,gelu_tanh",
                "--samples",
                "2",
            ]
            done = assay("bench", *models, *where, **env_of(model))
            assert done.returncode == 0, done.stderr
            assert len(re.findall(r"4 of 4 +100\.0 % \(34 to 100\)", done.stdout)) == 2, done.stdout
        finally:
            server.terminate()  # otherwise the `with` block would wait for the server for ever
