"""Runs `assay bench` and `assay report`: with a model behind HTTP, with kill -9 and --resume, and
with a server that is already running. Most tests use the fake device."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from llm_endpoint import KEY, Endpoint, env_of, error

Run = Callable[..., subprocess.CompletedProcess[str]]
PATIENCE_S = 120.0  # the longest wait for an event that must come
OPERATORS = [
    "vector_add",
    "gelu_tanh",
    "softmax_last_dim",
    "layer_norm_fwd",
    "rope_neox",
    "adamw_step",
]


def bench_arguments(tmp_path: Path, *more: str) -> list[str]:
    where = [
        "--store",
        str(tmp_path / "s.db"),
        "--out",
        str(tmp_path / "out"),
        "--operators",
        ",".join(OPERATORS),
    ]
    return ["bench", "--model", "openai-compatible:m", "--device", "fake", *where, *more]


def test_bench_and_report(assay: Run, model: Endpoint, tmp_path: Path) -> None:
    model.answers = {"gelu_tanh": "# fake: fail", "rope_neox": "# fake: error=syntax_error"}
    model.first = [error(429, "slow down", Retry_After="0")] * 2
    done = assay(*bench_arguments(tmp_path, "--jobs", "3"), **env_of(model))
    assert done.returncode == 0, done.stderr
    assert sorted(model.asked) == sorted(OPERATORS)
    assert re.search(r"gelu_tanh +wrong", done.stderr) and re.search(
        r"rope_neox +does not compile", done.stderr
    )
    assert "66.7 %" in done.stdout and "4 of 6" in done.stdout
    assert "600 in, 60 out" in done.stdout
    rows = list(
        csv.DictReader(
            io.StringIO(
                assay("report", "--store", str(tmp_path / "s.db"), "--format", "csv").stdout
            )
        )
    )
    assert {row["operator"]: row["label"] for row in rows}["rope_neox"] == "does not compile"
    assert all(row["scripted"] == "false" and row["model"] == "openai-compatible:m" for row in rows)
    document = json.loads(
        assay("report", "--store", str(tmp_path / "s.db"), "--format", "json").stdout
    )
    assert document["totals"]["passed"] == 4 and document["totals"]["input_tokens"] == 600
    leaked = [
        path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()
    ]
    assert not leaked and KEY not in done.stdout + done.stderr


def test_kill_and_resume(binary: str, assay: Run, model: Endpoint, tmp_path: Path) -> None:
    model.hold(at_once=2)
    arguments = bench_arguments(tmp_path, "--jobs", "1")
    environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state"), **env_of(model)}
    with subprocess.Popen(
        [binary, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as bench:
        deadline = time.monotonic() + PATIENCE_S
        while len(model.asked) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        bench.send_signal(signal.SIGKILL)
    journal = (tmp_path / "out/journal.jsonl").read_text()
    finished = [name for name in OPERATORS if f'"operator":"{name}"' in journal]
    assert 0 < len(finished) < len(OPERATORS)
    model.go_on()
    refused = assay(*arguments, **env_of(model))
    assert refused.returncode == 64 and "--resume" in refused.stderr
    other = assay(*bench_arguments(tmp_path, "--resume", "--samples", "2"), **env_of(model))
    assert other.returncode == 64 and "samples is 1 there and 2 here" in other.stderr
    done = assay(*arguments, "--resume", **env_of(model))
    assert done.returncode == 0, done.stderr
    assert "6 of 6" in done.stdout and "600 in, 60 out" in done.stdout
    for name in OPERATORS:
        lines = (tmp_path / f"out/transcripts/{name}.1.jsonl").read_text().splitlines()
        assert [json.loads(line)["kind"] for line in lines].count("reply") == 1, name
        assert model.asked.count(name) == 1 or name not in finished, name
    assert len(model.asked) <= len(OPERATORS) + 1  # one request may have been lost by the kill


def test_an_agent_with_feedback_is_killed_and_resumed(
    binary: str, assay: Run, model: Endpoint, tmp_path: Path
) -> None:
    model.hold(at_once=5)
    model.answers = {
        "vector_add": "# fake: fail",
        "gelu_tanh": "# fake: error=syntax_error",
        "softmax_last_dim": "# fake: perf=0.5",
    }
    arguments = bench_arguments(tmp_path, "--agent", "alphaevolve?attempts=3", "--jobs", "2")
    environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state"), **env_of(model)}
    with subprocess.Popen(
        [binary, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as bench:
        deadline = time.monotonic() + PATIENCE_S
        while len(model.asked) < 6 and time.monotonic() < deadline:
            time.sleep(0.01)
        bench.send_signal(signal.SIGKILL)
    model.go_on()
    done = assay(*arguments, "--resume", **env_of(model))
    assert done.returncode == 0, done.stderr
    replies = 0
    for name in OPERATORS:
        lines = [
            json.loads(line)
            for line in (tmp_path / f"out/transcripts/{name}.1.jsonl").read_text().splitlines()
        ]
        kinds = [line["kind"] for line in lines]
        # An attempt ends at the first correct answer if nothing is timed. If answers are timed or
        # wrong, the attempt uses all replies.
        expected = 3 if name in model.answers else 1
        assert kinds.count("reply") == expected, name
        assert [line.get("tool") for line in lines if line["kind"] == "tool_result"].count(
            "submit"
        ) == 1, name
        replies += expected
    assert f"{100 * replies} in, {10 * replies} out" in done.stdout
    assert replies <= len(model.asked) <= replies + 2  # two requests may have been lost by the kill
    assert "track iterative" in done.stdout


def test_feedback_beats_one_shot(assay: Run, tmp_path: Path) -> None:
    """Runs the simulated model on the CPU device, with the same seed, with and without feedback."""
    passed = {}
    for agent in ("one_shot", "leader"):
        where = ["--store", str(tmp_path / f"{agent}.db"), "--out", str(tmp_path / agent)]
        done = assay(
            "bench",
            "--agent",
            agent,
            "--model",
            "sim:7",
            "--device",
            "cpu",
            "--operators",
            "vector_add,relu",
            "--samples",
            "2",
            *where,
        )
        assert done.returncode == 0, done.stderr
        passed[agent] = sum(
            int(count) for count in re.findall(r"pass@1 .*\((\d) of 4;", done.stdout)
        )
        assert "sim:7 (no model)" in done.stdout
    assert passed["one_shot"] < passed["leader"] == 4


def test_an_unpriced_model_has_no_spending_limit(
    assay: Run, model: Endpoint, tmp_path: Path
) -> None:
    done = assay(*bench_arguments(tmp_path, "--max-cost", "1"), **env_of(model))
    assert done.returncode == 64 and "prices.toml" in done.stderr
    assert not model.asked


def test_scripted_is_labelled_and_never_ranked(assay: Run, tmp_path: Path) -> None:
    store = str(tmp_path / "s.db")
    done = assay(
        "bench",
        "--model",
        "scripted:demo",
        "--device",
        "fake",
        "--store",
        store,
        "--out",
        str(tmp_path / "out"),
        "--jobs",
        "2",
    )
    assert done.returncode == 0, done.stderr
    assert (
        "scripted (no model)" in done.stdout
        and "never ranked" in done.stdout
        and "16 of 16" in done.stdout
    )
    for form, word in (
        ("json", '"ranked": false'),
        ("csv", "scripted (no model)"),
        ("html", "scripted (no model)"),
    ):
        assert word in assay("report", "--store", store, "--format", form).stdout


def test_a_running_server(binary: str, assay: Run, tmp_path: Path) -> None:
    store = str(tmp_path / "h.db")
    environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state")}
    command = [binary, "serve", "--http", "127.0.0.1:0", "--device", "fake", "--store", store]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:\d+/mcp", server.stderr.readline())
            assert found is not None
            common = (
                "bench",
                "--model",
                "scripted:demo",
                "--server",
                found[0],
                "--out",
                str(tmp_path / "out"),
            )
            done = assay(*common, "--operators", ",".join(OPERATORS), "--jobs", "4")
            assert done.returncode == 0, done.stderr
            assert "6 of 6" in done.stdout
            unknown = assay(
                "bench",
                "--model",
                "scripted:demo",
                "--server",
                found[0],
                "--operators",
                "nope",
                "--out",
                str(tmp_path / "o2"),
            )
            assert unknown.returncode == 67 and "nope" in unknown.stderr
        finally:
            server.terminate()  # otherwise the `with` block would wait for the server for ever


def test_its_server_has_the_limits_that_were_asked_for(assay: Run, tmp_path: Path) -> None:
    where = (
        "--store",
        str(tmp_path / "s.db"),
        "--out",
        str(tmp_path / "out"),
        "--operators",
        "flash_attn_causal",  # takes seconds in the interpreter
        "--device",
        "cpu",
    )
    done = assay(
        "bench", "--model", "scripted:demo", *where, "--cpu-percent", "10", "--run-wall-ms", "150"
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"flash_attn_causal +error +timeout", done.stdout), done.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("report", "--store", "none.db"), 66, ("none.db",)),
        (("report", "--format", "xml"), 64, ("table, json, csv, html",)),
        (("bench", "--model", "scripted:demo", "--split", "odd"), 67, ("standard, ood, dsl",)),
        (("bench", "--model", "scripted:demo", "--operators", "vectoradd"), 67, ("vector_add",)),
        (("bench", "--model", "scripted:other"), 67, ("scripted:demo",)),
        (("bench", "--model", "openai"), 64, ("PROVIDER:NAME",)),
        (("bench", "--model", "sim:x"), 64, ("sim:SEED",)),
        (("bench", "--model", "sim:7?wrung=1"), 64, ("wrong=0.3", "repair=0.6")),
        (("bench", "--agent", "leader?round=1", "--model", "scripted:demo"), 64, ("rounds=8",)),
        (
            ("bench", "--agent", "lead", "--model", "scripted:demo"),
            67,
            ("one_shot, leader, alphaevolve, geak",),
        ),
        (("bench", "--model", "scripted:demo", "--jobs", "0"), 64, ("--jobs",)),
        (
            ("bench", "--model", "scripted:demo", "--gpu-jobs", "257"),
            64,
            ("--gpu-jobs", "1 to 256"),
        ),
        (
            (
                "bench",
                "--model",
                "scripted:demo",
                "--gpu-jobs",
                "4",
                "--server",
                "http://127.0.0.1:1/mcp",
            ),
            64,
            ("excludes", "--server"),
        ),
        (
            ("bench", "--model", "scripted:demo", "--isolation", "lax"),
            64,
            ("strict", "best-effort", "spawn"),
        ),
        (("bench", "--model", "openai-compatible:m"), 64, ("ASSAY_LLM_BASE_URL",)),
        (("bench",), 64, ("--model",)),
    ],
)
def test_bad_arguments(
    assay: Run, arguments: tuple[str, ...], status: int, words: tuple[str, ...]
) -> None:
    done = assay(*arguments, ASSAY_LLM_BASE_URL="")
    assert done.returncode == status, done.stderr
    for word in words:
        assert word in done.stderr
