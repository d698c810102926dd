"""Makes a whole scored run, as an agent would. Uses every official client, both transports, and
both the stateless and the session-based protocol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from assay_server import serving
from mcp_sessions import CLIENTS, Client, Session, Target, connect

PASSES = "# fake: perf=1.5\ndef {name}(*arguments):\n    return arguments[0]\n"
ADD = """
import torch, triton, triton.language as tl

@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)

def vector_add(x, y):
    z = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
"""


def structured(session: Session, tool: str, **arguments: Any) -> dict[str, Any]:
    """Makes a call that must succeed. If the answer is a job handle, waits for the verdict and
    returns it."""
    result = session.call(tool, arguments)
    assert not result.get("isError"), result
    assert result["content"][0]["text"]
    answer: dict[str, Any] = result["structuredContent"]
    while answer["status"] == "running":
        answer = session.call("job", {"job": answer["job"], "wait_s": 20})["structuredContent"]
    return answer


def scored_run(session: Session, source: str, times: bool) -> None:
    names = structured(session, "list_operators")["names"]
    assert "vector_add" in names
    spec = structured(session, "fetch_spec", operator="vector_add")
    assert spec["entry"] == "vector_add"

    run = structured(
        session,
        "start_run",
        agent="client-test",
        model="none",
        track="iterative",
        suite="vector_add",
    )["run"]
    code = {"run": run, "operator": "vector_add", "code": source}
    compiled = structured(session, "compile", **code)
    assert compiled["outcome"] == "pass", compiled
    artifact = compiled["artifacts"][0]["artifact"]
    read = structured(session, "read_artifact", artifact=artifact, limit=100)
    assert read["text"] and read["total_bytes"] > 0

    tested = structured(session, "run_tests", **code)
    assert tested["outcome"] == "pass", tested
    graded = structured(session, "submit", **code)
    assert graded["outcome"] == "pass", graded
    again = structured(session, "job", job=graded["job"])
    assert again["outcome"] == "pass"
    structured(session, "report_usage", run=run, input_tokens=10, output_tokens=20)

    card = structured(session, "scorecard", run=run)
    assert (card["passed"], card["submitted"], card["total"], card["pass_at_1"]) == (1, 1, 1, 1.0)
    assert ("perf_at_1" in card) == times
    refused = session.call("submit", code)
    assert refused["isError"] and "submi" in refused["content"][0]["text"], refused


def test_run_on_the_fake_device(session: Session, client: Client) -> None:
    assert session.connected["server"]["name"] == "assay"
    assert session.connected["version"] in (
        client.version,
        None,
    )  # over stdio, the v1 client reports no version
    assert session.connected["instructions"]
    scored_run(session, PASSES.format(name="vector_add"), times=True)


@pytest.fixture(scope="module")
def cpu_over_http(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """Runs one HTTP server on the CPU device for both clients. A client of the transport stdio
    starts a server of its own."""
    store = str(tmp_path_factory.mktemp("cpu") / "assay.db")
    with serving("http", binary, "--store", store, "--device", "cpu") as target:
        yield target


@pytest.mark.parametrize("client", [CLIENTS[0], CLIENTS[2]], ids=str)
def test_run_on_the_cpu(
    client: Client, transport: str, serve: Any, cpu_over_http: Target, node_dir: Path
) -> None:
    by_transport = {
        "stdio": lambda: serve("stdio", "--device", "cpu"),
        "http": lambda: nullcontext(cpu_over_http),
    }
    with by_transport[transport]() as target, connect(client, target, node_dir) as session:
        scored_run(session, ADD, times=False)


def test_mistakes_are_answers_and_unknown_tools_are_errors(session: Session) -> None:
    for arguments, word in (
        ({"operator": "vectoradd"}, "vector_add"),
        ({"operatr": "vector_add"}, "operatr"),
        ({}, "operator"),
    ):
        result = session.call("fetch_spec", arguments)
        assert result["isError"] and word in result["content"][0]["text"], result
    with pytest.raises(Exception, match="no_such_tool"):
        session.call("no_such_tool", {})


def test_clients_of_both_eras_share_one_server(serve: Any, node_dir: Path) -> None:
    with serve("http", "--device", "fake") as target:
        sessions = [connect(client, target, node_dir) for client in CLIENTS]
        entered = [session.__enter__() for session in sessions]
        try:
            waiting = [
                session.start(
                    "run_tests", {"operator": "vector_add", "code": "# fake: sleep_ms=100"}
                )
                for session in entered
            ]
            assert [pending.result()["structuredContent"]["outcome"] for pending in waiting] == [
                "pass"
            ] * len(CLIENTS)
        finally:
            for session in sessions:
                session.__exit__(None, None, None)
