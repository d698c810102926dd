"""Checks that no answer is too large for a client. Also checks that `content` and
`structuredContent` are each complete, because some clients show only one of the two."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_sessions import Client, Json, Session, connect
from tokens import count_tokens

CONCISE_TOKENS = 1_500
HARD_CAP_TOKENS = 8_000
# The time in seconds in which each call must be answered. The shortest timeout of a client is 60 s,
# and progress messages do not always extend it.
ANSWER_WITHIN_S = 50.0

FLOOD = """
def vector_add(x, y):
    for i in range(20000):
        print("line", i, "of output that nobody needs", i * 7919)
    raise ValueError("no idea")
"""
WRONG = "import torch\ndef vector_add(x, y):\n    return x.clone()\n"
NOISE = "# fake: pass\ndef vector_add(x, y):\n    return x\n"


@pytest.fixture(scope="module")
def fake(
    binary: str, node_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    from assay_server import serving

    store = str(tmp_path_factory.mktemp("answers") / "assay.db")
    with serving(
        "stdio", binary, "--store", store, "--device", "fake", "--device", "cpu"
    ) as target:
        with connect(Client("python", "auto"), target, node_dir) as session:
            yield session


def halves(result: Json) -> tuple[str, str]:
    return result["content"][0]["text"], json.dumps(result["structuredContent"])


def every_answer(session: Session, response_format: str) -> dict[str, Json]:
    """Returns one answer of each kind that the tools give, including failures."""
    answers: dict[str, Json] = {}
    formatted = {"response_format": response_format}
    answers["list_operators"] = session.call("list_operators", formatted)
    names = answers["list_operators"]["structuredContent"]["names"]
    for name in names:
        answers[f"fetch_spec {name}"] = session.call("fetch_spec", {"operator": name, **formatted})
    for query in ("mask", "scan over ragged rows"):
        answers[f"search_examples {query}"] = session.call(
            "search_examples", {"query": query, "k": 10, **formatted}
        )
    answers["start_run"] = session.call(
        "start_run", {"agent": "a", "model": "m", "track": "iterative"}
    )
    run = answers["start_run"]["structuredContent"]["run"]
    code = {"run": run, "operator": "vector_add", "code": NOISE, **formatted}
    for tool in ("compile", "run_tests", "profile", "submit"):
        answers[tool] = session.call(tool, code)
    answers["wrong"] = follow(
        session,
        "run_tests",
        {"operator": "vector_add", "code": WRONG, "device": "cpu", **formatted},
    )
    answers["flood"] = follow(
        session,
        "run_tests",
        {"operator": "vector_add", "code": FLOOD, "device": "cpu", **formatted},
    )
    oracle = (
        Path(__file__).resolve().parents[2] / "operators/standard/softmax_last_dim/oracle.py"
    ).read_text()
    answers["compiled"] = follow(
        session,
        "compile",
        {"operator": "softmax_last_dim", "code": oracle, "device": "cpu", **formatted},
    )
    artifacts = {
        entry["name"]: entry["artifact"]
        for entry in answers["compiled"]["structuredContent"]["artifacts"]
    }
    for name, artifact in artifacts.items():
        limit = {} if response_format == "concise" else {"limit": 14_000}
        answers[f"read_artifact {name}"] = session.call(
            "read_artifact", {"artifact": artifact, **limit}
        )
    answers["report_usage"] = session.call(
        "report_usage", {"run": run, "input_tokens": 1, "output_tokens": 1}
    )
    answers["scorecard"] = session.call("scorecard", {"run": run, **formatted})
    answers["mistake"] = session.call("fetch_spec", {"operator": "vectoradd"})
    return answers


def follow(session: Session, tool: str, arguments: Json) -> Json:
    result = session.call(tool, arguments)
    while result["structuredContent"]["status"] == "running":
        wanted = {
            "job": result["structuredContent"]["job"],
            "wait_s": 20,
            "response_format": arguments["response_format"],
        }
        result = session.call("job", wanted)
    return result


@pytest.mark.parametrize(
    ("response_format", "most"), [("concise", CONCISE_TOKENS), ("detailed", HARD_CAP_TOKENS)]
)
def test_sizes(fake: Session, node_dir: Path, response_format: str, most: int) -> None:
    answers = every_answer(fake, response_format)
    texts = [half for result in answers.values() for half in halves(result)]
    counts = count_tokens(node_dir, texts)
    measured = {
        f"{name} {half}": counts[2 * i + j]
        for i, name in enumerate(answers)
        for j, half in enumerate(("content", "structuredContent"))
    }
    too_large = {name: count for name, count in measured.items() if count > most}
    assert not too_large, too_large


def test_what_was_cut_is_named(fake: Session) -> None:
    answer = follow(
        fake,
        "run_tests",
        {"operator": "vector_add", "code": FLOOD, "device": "cpu", "response_format": "concise"},
    )
    text, structured = halves(answer)
    assert (
        text.startswith("error")
        and "no idea" in text
        and "line 0 of output" in text
        and "next: " in text
    )
    assert "bytes" in text, "how much of the output is missing"
    assert answer["structuredContent"]["next"] and "no idea" in structured


def test_each_half_is_enough_alone(fake: Session) -> None:
    for name, result in every_answer(fake, "concise").items():
        text, structured = result["content"][0]["text"], result["structuredContent"]
        first = text.split("\n", 1)[0]
        outcome = structured.get("outcome", structured["status"])
        assert first.startswith(outcome), (name, first, outcome)
        if structured["status"] == "error":
            assert structured["error"]["message"] in text
            continue
        assert structured["next"] in text, (name, "the next step is in both halves")
        for key in ("run", "job"):
            if key in structured and name != "scorecard" and name != "report_usage":
                assert structured[key] in text, (name, key)
        for artifact in structured.get("artifacts", []):
            assert artifact["artifact"] in text, (name, artifact)
        for case in structured.get("cases", []):
            if case.get("outcome", "pass") != "pass":
                assert case["id"] in text and str(case["mismatches"]) in text, (name, case)
        for key in ("pass_at_1", "passed", "submitted", "matched", "total_bytes", "next_offset"):
            if key in structured and key != "pass_at_1":
                assert str(structured[key]) in text, (name, key)


def test_long_work_answers_in_time_and_is_continued(serve: Any, node_dir: Path) -> None:
    code = "# fake: sleep_ms=24000\ndef vector_add(x, y):\n    return x\n"
    with (
        serve("http", "--device", "fake") as target,
        connect(Client("typescript_v1", "legacy"), target, node_dir) as session,
    ):
        begin = time.monotonic()
        result = session.call("run_tests", {"operator": "vector_add", "code": code})
        assert time.monotonic() - begin < ANSWER_WITHIN_S
        answer = result["structuredContent"]
        assert answer["status"] == "running" and answer["job"] in result["content"][0]["text"]
        verdict = session.call("job", {"job": answer["job"], "wait_s": 20})["structuredContent"]
        assert verdict["outcome"] == "pass"
        assert time.monotonic() - begin < 2 * ANSWER_WITHIN_S
