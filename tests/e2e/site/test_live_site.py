"""Tests the site that `assay serve --http` serves from its store, with tokens and without.

ASSAY_PAGE_PICTURES=DIRECTORY keeps a screenshot of each view.
"""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_serving import WAIT_S, Server, new_token, serving, wait_until
from site_pages import OPERATORS, RAISING, build, visit, why_no_browser

BENCH_OPERATORS = ("vector_add", "gelu_tanh", "softmax_last_dim")
SOURCE = f"# fake: perf=1.5\n# {RAISING}\ndef f(x):\n    pass\n"


def start_run(server: Server, token: str, model: str) -> str:
    request = {"agent": "a", "model": model, "track": "one_shot", "suite": ",".join(OPERATORS)}
    run: str = server.call("start_run", request, token)["structuredContent"]["run"]
    return run


def submit(server: Server, token: str, run: str, operator: str) -> None:
    arguments = {"run": run, "operator": operator, "code": SOURCE}
    done = server.call("submit", arguments, token)["structuredContent"]
    assert done["outcome"] == "pass", done


def index_of(server: Server, token: str, calls: int = 0) -> Any:
    """Returns the index when it has so many calls. The server keeps a snapshot for some seconds."""
    found: list[Any] = []

    def is_new() -> bool:
        status, headers, text = server.request("GET", "/live/data/index", token=token)
        assert status == 200, text
        assert headers["cache-control"] == "no-store"
        found[:] = [json.loads(text)]
        totals = [group["report"]["totals"]["tool_calls"] for group in found[0]["groups"]]
        return sum(totals) >= calls

    wait_until(is_new)
    return found[0]


def part_of(server: Server, index: Any, part: str, token: str = "") -> tuple[int, Any]:
    path = f"/live/data/{index['live']['snapshot']}/{part}"
    status, _, text = server.request("GET", path, token=token)
    return status, json.loads(text)


@pytest.fixture(scope="module")
def served(
    binary: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, dict[str, str]]]:
    build()
    folder = tmp_path_factory.mktemp("live")
    tokens = {name: new_token(binary, folder / "tokens", name, "score") for name in ("al", "bo")}
    with serving(binary, folder, "--token-file", str(folder / "tokens")) as server:
        yield server, tokens


def test_the_page_is_open_and_the_data_is_not(served: tuple[Server, dict[str, str]]) -> None:
    server, _ = served
    for path, kind in (
        ("/", "html"),
        ("/assets/site.js", "javascript"),
        ("/assets/site.css", "css"),
    ):
        status, headers, text = server.request("GET", path)
        assert status == 200 and kind in headers["content-type"] and text, path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        status, headers, text = server.request("HEAD", path)
        assert (status, text) == (200, "")
    for path in ("/live/state", "/live/events", "/live/data/index", "/live/data/1/index"):
        assert server.request("GET", path)[0] == 401, path
        assert server.request("GET", path, token="assay_" + "a" * 26)[0] == 401, path
        assert server.request("GET", path, more_headers={"Host": "evil.example"})[0] == 403, path
    assert server.request("POST", "/", "{}")[0] == 404
    assert server.request("GET", "/live/nothing")[0] == 404
    assert server.request("GET", "/assets/../tokens")[0] == 404


def test_a_token_shows_only_its_own_runs(served: tuple[Server, dict[str, str]]) -> None:
    server, tokens = served
    run = start_run(server, tokens["al"], "openai:m")
    submit(server, tokens["al"], run, "vector_add")
    index = index_of(server, tokens["al"], 1)
    assert [sample["run"] for sample in index["groups"][0]["samples"]] == [run]
    status, details = part_of(server, index, "details-0", tokens["al"])
    assert status == 200 and any(s["text"] == SOURCE for e in details for s in e["sources"])
    state = json.loads(server.request("GET", "/live/state", token=tokens["al"])[2])
    assert state["principal"] == "al" and state["jobs"] == []
    assert [(r["run"], r["submitted"], r["passed"]) for r in state["runs"]] == [(run, 1, 1)]

    other = index_of(server, tokens["bo"])
    assert other["groups"] == [] and other["suites"] == []
    assert part_of(server, index, "details-0", tokens["bo"])[0] == 404, "a snapshot of al"
    text = server.request("GET", "/live/state", token=tokens["bo"])[2]
    assert run not in text and json.loads(text)["runs"] == []


def test_hidden_cases_and_sources_of_simulations_are_not_shown(
    served: tuple[Server, dict[str, str]],
) -> None:
    server, tokens = served
    run = start_run(server, tokens["al"], "sim:7 (no model)")
    submit(server, tokens["al"], run, "vector_add")
    index = index_of(server, tokens["al"], 2)
    group = next(each for each in index["groups"] if "no_model" in each["unranked"])
    assert group["samples"][0]["run"] == run
    number = index["groups"].index(group)
    columns = index["attempt_columns"]
    rows = [
        dict(zip(columns, row + [None] * (len(columns) - len(row)), strict=True))
        for row in part_of(server, index, "attempts-0", tokens["al"])[1]
    ]
    row = next(each for each in rows if each["group"] == number and each["job"])
    details = part_of(server, index, f"details-{row['details_part']}", tokens["al"])[1]
    entry = details[row["details_entry"]]
    assert [source["text"] for source in entry["sources"]] == [None]
    assert RAISING not in json.dumps(entry)
    for verdict in (call["verdict"] for entry in details for call in entry["calls"]):
        assert not [record for record in verdict["cases"] if record["hidden"] and record["reason"]]


def test_events_say_what_changes_and_end_with_the_server(binary: str, tmp_path: Path) -> None:
    build()
    with serving(binary, tmp_path) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT_S)
        connection.request("GET", "/live/events")
        answer = connection.getresponse()
        assert answer.getheader("Content-Type") == "text/event-stream"

        def state() -> Any:
            while not (line := answer.readline()).startswith(b"data: "):
                assert line, "the stream ended"
            return json.loads(line[len("data: ") :])

        assert state()["runs"] == []
        run = start_run(server, "", "openai:m")
        assert state()["runs"][0]["run"] == run
        submit(server, "", run, "vector_add")
        while (last := state())["runs"][0]["submitted"] == 0:
            assert last["principal"] == ""
        assert last["runs"][0]["passed"] == 1
        assert index_of(server, "", 1)["live"]["runs_left_out"] == 0
    assert answer.read() is not None
    connection.close()


def test_a_visitor_follows_a_bench(
    binary: str, served: tuple[Server, dict[str, str]], tmp_path: Path
) -> None:
    if missing := why_no_browser():
        pytest.skip(missing)
    server, tokens = served
    pictures = os.environ.get("ASSAY_PAGE_PICTURES")
    url = f"http://127.0.0.1:{server.port}/"
    bench = [binary, "bench", "--server", f"{url}mcp", "--agent", "one_shot", "--model", "sim:7"]
    bench += ["--operators", ",".join(BENCH_OPERATORS), "--out", str(tmp_path / "out")]
    environment = {**os.environ, "ASSAY_TOKEN": tokens["bo"], "ASSAY_STATE_DIR": str(tmp_path)}
    seen = visit(
        "tests/node/live_facts.mjs",
        url,
        pictures,
        token=tokens["bo"],
        bench=bench,
        environment=environment,
        operators=BENCH_OPERATORS,
    )
    assert "unknown token" in seen["refused"]
    assert "There is no row" in seen["before"] and "token bo" in seen["before"]
    assert seen["bench"]["status"] in (0, 1), seen["bench"]["said"]
    assert seen["grown"] == list(BENCH_OPERATORS)
    assert "3 of 3" in seen["run"] and "complete" in seen["run"]
    assert "The sources of this attempt are not published" in seen["attempt"]
    assert seen["axe"] == {}
    assert all(pixels <= 0 for pixels in seen["wide"].values()), seen["wide"]
    assert (seen["heard"], seen["refusedRequests"], seen["forgot"]) == ([], [], 0)
