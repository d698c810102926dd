"""Makes usual mistakes and checks that each answer tells the decisive fact, in few characters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mistakes import ACCEPTED, DROPS_NAN, ENDLESS, MISTAKES, Mistake
from right_kernels import ADD, RIGHT
from stdio_client import StdioClient, serve_command

MOST_CHARS = 1100  # of an answer to a mistake
MOST_PASS_CHARS = 330


def answer(server: StdioClient, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    result = server.call(tool, arguments)
    text = result["content"][0]["text"]
    assert isinstance(text, str)
    return text, result["structuredContent"]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda one: f"{one.operator}: {one.name}")
def test_each_mistake_is_told(cpu_server: StdioClient, mistake: Mistake) -> None:
    text, verdict = answer(cpu_server, "run_tests", operator=mistake.operator, code=mistake.source)
    assert verdict["outcome"] != "pass"
    for fact in mistake.told:
        assert fact in text, text
    assert "not run:" not in text
    assert len(text) <= MOST_CHARS


@pytest.mark.parametrize("operator", sorted(RIGHT))
def test_a_pass_is_short(cpu_server: StdioClient, operator: str) -> None:
    text, verdict = answer(cpu_server, "run_tests", operator=operator, code=RIGHT[operator])
    assert verdict["outcome"] == "pass", text
    assert len(text) <= MOST_PASS_CHARS


@pytest.mark.parametrize("name", sorted(ACCEPTED))
def test_what_is_unusual_and_right_passes(cpu_server: StdioClient, name: str) -> None:
    operator, source = ACCEPTED[name]
    text, verdict = answer(cpu_server, "run_tests", operator=operator, code=source)
    assert verdict["outcome"] == "pass", text


def test_a_maximum_that_drops_nan_fails_the_public_case_with_nan(cpu_server: StdioClient) -> None:
    text, verdict = answer(cpu_server, "run_tests", operator="relu", code=DROPS_NAN)
    assert (verdict["outcome"], verdict["error_kind"]) == ("fail", "wrong_result")
    assert "case 'nan'" in text and "nan -> 0 (x nan)" in text
    run = {"agent": "a", "model": "m", "track": "practice", "suite": "relu"}
    _, started = answer(cpu_server, "start_run", **run)
    text, verdict = answer(
        cpu_server, "submit", operator="relu", code=DROPS_NAN, run=started["run"]
    )
    assert (verdict["outcome"], verdict["error_kind"]) == ("fail", "wrong_result"), text


def test_an_endless_loop_is_told_with_its_line(binary: str, tmp_path: Path) -> None:
    short = serve_command(binary, "cpu", tmp_path / "assay.db", "--run-wall-ms", "4000")
    server = StdioClient(short)
    try:
        arguments = {"operator": "vector_add", "code": ENDLESS}
        result = server.call("run_tests", arguments)
        while result["structuredContent"]["status"] == "running":
            job = result["structuredContent"]["job"]
            result = server.call("job", {"job": job, "wait_s": 20})
        text, verdict = result["content"][0]["text"], result["structuredContent"]
        assert (verdict["outcome"], verdict["error_kind"]) == ("error", "timeout")
        assert "line 8" in text or "line 9" in text, text
        assert "Look for an endless loop" in text and len(text) <= MOST_CHARS
    finally:
        server.close()


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("fetch_spec", {"operator": "vectoradd"}, "did you mean 'vector_add'?"),
        ("run_tests", {"operator": "vector_add", "kernel": ADD}, 'unknown property "kernel"'),
        ("run_tests", {"operator": "vector_add", "source": ADD}, "not a job handle"),
        ("run_tests", {"operator": "vector_add", "code": ADD, "cases": []}, '"cases"; valid: '),
        (
            "profile",
            {"operator": "vector_add", "code": ADD, "case": "smal"},
            "no public case 'smal'; valid: small, ",
        ),
    ],
)
def test_a_wrong_name_is_told_with_what_is_valid(
    cpu_server: StdioClient, tool: str, arguments: dict[str, Any], told: str
) -> None:
    result = cpu_server.call(tool, arguments)
    assert result["isError"]
    text = result["content"][0]["text"]
    assert told in text and len(text) <= MOST_CHARS, text


def test_the_description_is_data_too(cpu_server: StdioClient) -> None:
    mistake = next(one for one in MISTAKES if one.name == "mask of C - 1")
    _, verdict = answer(cpu_server, "run_tests", operator=mistake.operator, code=mistake.source)
    wrong = verdict["cases"][0]["wrong"][0]
    assert wrong["shape"] == [7, 333] and wrong["memory"] == "nan"
    assert wrong["unstored"]["count"] == 7 and wrong["nan"]["count"] == 0
    assert wrong["unstored"]["spans"] == [
        {"axis": 1, "first": 332, "last": 332, "run": 1, "period": 0}
    ]
    assert wrong["row_ratios"][0] > 1 and len(wrong["worst"]) == 3
    assert set(wrong["worst"][0]["inputs"]) == {"x"}


def test_a_specification_names_guides_and_a_tool_returns_them(cpu_server: StdioClient) -> None:
    text, spec = answer(cpu_server, "fetch_spec", operator="softmax_last_dim")
    assert spec["guides"] == ["triton-pitfalls", "reductions-and-scans"]
    assert "search_examples with guide=" in text
    for topic in spec["guides"]:
        text, found = answer(cpu_server, "search_examples", guide=topic)
        assert found["guide"]["topic"] == topic and found["guide"]["text"] in text
    missing = cpu_server.call("search_examples", {"guide": "softmax"})
    assert missing["isError"] and "valid topics: atomics, " in missing["content"][0]["text"]
