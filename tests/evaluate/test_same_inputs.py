"""Tests that the members of a group have the same inputs, on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import assay
import pytest
from harness.judging.case_state import seed_of
from http_serving import Server, serving

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def cpu(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(binary, tmp_path_factory.mktemp("cpu"), device="cpu") as running:
        yield running


def test_the_seeds_of_a_group_are_the_same(cpu: Server) -> None:
    source = (ROOT / "operators/standard/vector_add/oracle.py").read_text()
    members = [
        assay.Evaluation("vector_add", source=f"{source}# {name}\n", group=group)
        for name, group in [("one", "a"), ("two", "a"), ("three", "b"), ("four", None)]
    ]
    with assay.Client(f"http://127.0.0.1:{cpu.port}") as client:
        results = client.evaluate_all(members)
    seeds = []
    for result in results:
        assert result.outcome == "pass", result.feedback
        answer = cpu.call("job", {"job": result.id, "response_format": "detailed"})
        seeds.append(answer["structuredContent"]["provenance"]["seeds"])
    assert seeds[0] == seeds[1] and len(set(seeds[0].values())) == len(seeds[0]) > 1
    assert len({str(one) for one in seeds}) == 3
    assert results[0].inputs == results[1].inputs != results[2].inputs


def test_a_seed_follows_from_the_text_and_the_case() -> None:
    assert seed_of("secret", "small") == seed_of("secret", "small")
    assert seed_of("secret", "small") != seed_of("secret", "large")
    assert seed_of("", "small") != seed_of("", "small")
