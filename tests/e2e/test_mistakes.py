"""Makes usual mistakes and checks that each answer tells the decisive fact, in few characters."""

from __future__ import annotations

from typing import Any

import pytest
from mistakes import MISTAKES, RIGHT, Mistake
from stdio_client import StdioClient

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
