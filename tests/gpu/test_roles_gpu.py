"""Tests workers with roles on a GPU: one records without a GPU, another one launches, judges and
times."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_serving import Server, serving

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
ADD = (ROOT / "operators/standard/vector_add/oracle.py").read_text()
SOFTMAX = (ROOT / "operators/standard/softmax_last_dim/oracle.py").read_text()
SHIFTED = "tl.exp(x - tl.max(x, axis=0))"
POOLS = """[[pool]]
name = "cpus"
role = "record"
command = {record}
jobs_per_worker = 4
[[pool]]
name = "gpus"
role = "launch"
command = {launch}
device = "cuda:0"
jobs_per_worker = 8
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("roles")
    file = folder / "workers.toml"
    file.write_text(
        POOLS.format(
            record=json.dumps(f"{BINARY} worker --role record"),
            launch=json.dumps(f"{BINARY} worker --role launch --device cuda:0"),
        )
    )
    with serving(BINARY, folder, "--workers", str(file), device="") as running:
        yield running


def answer_of(
    server: Server, tool: str, source: str, operator: str = "vector_add", **more: Any
) -> dict[str, Any]:
    """Returns the answer of a tool, however long it takes."""
    arguments = {"operator": operator, "code": source, "response_format": "detailed", **more}
    answer: dict[str, Any] = server.call(tool, arguments)["structuredContent"]
    while "outcome" not in answer:
        assert "job" in answer, answer
        waited = {"job": answer["job"], "wait_s": 20, "response_format": "detailed"}
        answer = server.call("job", waited)["structuredContent"]
    return answer


def run_of(server: Server, suite: str) -> str:
    wanted = {"agent": "a", "model": "m", "track": "practice", "suite": suite}
    return str(server.call("start_run", wanted)["structuredContent"]["run"])


def shown(answer: dict[str, Any]) -> str:
    return json.dumps(answer, indent=1)[:3000]


def test_a_right_submission_passes_on_two_workers(server: Server) -> None:
    answer = answer_of(server, "run_tests", ADD)
    assert (answer["outcome"], answer["tier"]) == ("pass", "plan"), shown(answer)
    assert answer["provenance"]["worker"].startswith("gpus-"), shown(answer)
    assert answer["provenance"]["recorder"].startswith("cpus-"), shown(answer)


def test_a_wrong_submission_fails(server: Server) -> None:
    assert "(x + y)" in ADD
    answer = answer_of(server, "run_tests", ADD.replace("(x + y)", "(x - y)"))
    assert (answer["outcome"], answer["error_kind"]) == ("fail", "wrong_result"), shown(answer)


def test_a_hidden_case_fails_after_the_public_ones(server: Server) -> None:
    assert SHIFTED in SOFTMAX
    wrong = SOFTMAX.replace(SHIFTED, "tl.exp(x)")
    tested = answer_of(server, "run_tests", wrong, "softmax_last_dim")
    assert tested["outcome"] == "pass", shown(tested)
    run = run_of(server, "softmax_last_dim")
    graded = answer_of(server, "submit", wrong, "softmax_last_dim", run=run)
    assert (graded["outcome"], graded["error_kind"]) == ("fail", "hidden_case"), shown(graded)


def test_a_grade_is_timed(server: Server) -> None:
    answer = answer_of(server, "submit", ADD, run=run_of(server, "vector_add"))
    assert (answer["outcome"], answer["tier"]) == ("pass", "plan"), shown(answer)
    assert "perf" in answer, answer.get("hints")  # the hints say why there is no Perf
    assert 0.5 < answer["perf"] < 2.0, shown(answer)


@pytest.mark.parametrize("tool", ["compile", "profile"])
def test_the_other_tools_work(server: Server, tool: str) -> None:
    answer = answer_of(server, tool, ADD)
    assert answer["outcome"] == "pass", shown(answer)
    assert answer["kernels"], shown(answer)
