"""Runs the example of an external agent with the commands in its README. Checks that the agent is
scored and reported like the bundled agents, over stdio and HTTP."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llm_endpoint import Endpoint, error

Run = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "reference_agents/examples/external_agent.py"
MOST_LINES = 60
KEY = "sk-secret-of-this-test-9876543210"
ANSWERS = {
    "gelu_tanh": "# fake: fail",
    "rope_neox": "# fake: error=syntax_error",
    "softmax_last_dim": "# fake: perf=2",
}
OPERATORS = ["vector_add", *ANSWERS]


@pytest.fixture
def agent(binary: str, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Returns a function that runs the example. It runs in a folder in which
    build/release/bin/assay is the binary under test."""
    program = tmp_path / "build/release/bin/assay"
    program.parent.mkdir(parents=True)
    program.symlink_to(binary)

    def run(endpoint: Endpoint, *arguments: str) -> subprocess.CompletedProcess[str]:
        names = {
            "ASSAY_LLM_BASE_URL": endpoint.url,
            "ASSAY_LLM_MODEL": "m",
            "ASSAY_LLM_API_KEY": KEY,
            "NO_PROXY": "127.0.0.1",
        }
        environment = {
            **os.environ,
            "ASSAY_STATE_DIR": str(tmp_path / "state"),
            "ASSAY_ROOT": str(ROOT),
            **names,
        }
        command = [sys.executable, str(EXAMPLE), *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )

    return run


def report(assay: Run, store: Path) -> dict[str, Any]:
    done = assay("report", "--store", str(store), "--format", "json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def scored(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    keys = (
        "operator",
        "label",
        "outcome",
        "error_kind",
        "error_type",
        "perf",
        "tier",
        "cases",
        "explanation",
    )
    return [tuple(json.dumps(row[key]) for key in keys) for row in document["operators"]]


def test_it_is_short() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_it_is_scored_and_reported_like_a_bundled_agent(
    assay: Run, agent: Run, tmp_path: Path
) -> None:
    mine, bundled = tmp_path / "mine.db", tmp_path / "bundled.db"
    with Endpoint() as endpoint:
        endpoint.answers = ANSWERS
        done = agent(endpoint, ",".join(OPERATORS), "--device", "fake", "--store", str(mine))
        assert done.returncode == 0, done.stderr
        assert endpoint.keys == {f"Bearer {KEY}"} and sorted(endpoint.asked) == sorted(OPERATORS)
        where = (
            "--store",
            str(bundled),
            "--out",
            str(tmp_path / "out"),
            "--operators",
            ",".join(OPERATORS),
        )
        bench = assay(
            "bench",
            "--model",
            "openai-compatible:m",
            "--device",
            "fake",
            *where,
            ASSAY_LLM_BASE_URL=endpoint.url,
        )
        assert bench.returncode == 0, bench.stderr
    assert "Pass@1 50 %: 2 of 4 operators pass, 4 submitted" in done.stdout
    assert "400 input tokens, 40 output tokens" in done.stdout
    for name, said in (("vector_add", "pass"), ("gelu_tanh", "fail"), ("rope_neox", "error")):
        assert re.search(rf"^{name} {said}", done.stdout, re.MULTILINE), done.stdout
    external, one_shot = report(assay, mine), report(assay, bundled)
    assert (
        external["run"]["agent"] == "external"
        and external["run"]["model"] == "m"
        and external["run"]["ranked"]
    )
    assert scored(external) == scored(one_shot)
    for key in (
        "passed",
        "labels",
        "errors",
        "pass_at_1",
        "perf_at_1",
        "call_accuracy",
        "input_tokens",
        "output_tokens",
    ):
        assert external["totals"][key] == one_shot["totals"][key], key
    assert external["metrics"] == one_shot["metrics"]
    for form, word in (("table", "external"), ("csv", "external"), ("html", "external")):
        assert word in assay("report", "--store", str(mine), "--format", form).stdout
    leaked = [
        path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()
    ]
    assert not leaked and KEY not in done.stdout + done.stderr


def test_over_http(binary: str, assay: Run, agent: Run, tmp_path: Path) -> None:
    store = tmp_path / "http.db"
    environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state")}
    command = [binary, "serve", "--http", "127.0.0.1:0", "--device", "fake", "--store", str(store)]
    with (
        Endpoint() as endpoint,
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server,
    ):
        try:
            assert server.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:\d+/mcp", server.stderr.readline())
            assert found is not None
            done = agent(endpoint, "vector_add", found[0])
            assert done.returncode == 0, done.stderr
            assert "1 of 1 operator" in done.stdout
        finally:
            server.terminate()
    assert report(assay, store)["totals"]["passed"] == 1


def test_an_unknown_operator_ends_in_the_servers_words(agent: Run, tmp_path: Path) -> None:
    with Endpoint() as endpoint:
        done = agent(endpoint, "vectoradd", "--device", "fake", "--store", str(tmp_path / "s.db"))
    assert done.returncode != 0 and "vector_add" in done.stderr and endpoint.requests == 0


def test_a_refused_key_is_not_shown(agent: Run, tmp_path: Path) -> None:
    with Endpoint() as endpoint:
        endpoint.first = [error(401, f"Incorrect API key provided: {KEY}")]
        done = agent(endpoint, "vector_add", "--device", "fake", "--store", str(tmp_path / "s.db"))
    assert done.returncode != 0 and "401" in done.stderr and KEY not in done.stdout + done.stderr
