"""Tests POST /v1/evaluate and what belongs to it, on the fake device: results, keys, groups,
deadlines, policies and problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import assay
import pytest
from http_serving import WAIT_S, Server, running_jobs, serving, wait_until

PASS = "# fake: pass\n"
FAIL = "# fake: fail\n"
SLOW = "# fake: sleep_ms=30000\n"
PROBLEM = "urn:assay:problem:"


def post(
    server: Server, body: Any, path: str = "/v1/evaluate", token: str = ""
) -> tuple[int, dict[str, Any]]:
    text = body if isinstance(body, str) else json.dumps(body)
    status, headers, answer = server.request("POST", path, text, token)
    if status >= 400:
        assert headers["content-type"] == "application/problem+json", answer
    return status, json.loads(answer)


def one(**members: Any) -> dict[str, Any]:
    return {"operator": "vector_add", "source": PASS, **members}


def test_a_result_has_the_outcome_and_the_figures(client: assay.Client) -> None:
    source = PASS + "# fake: perf=2.5\n# a result\n"
    result = client.evaluate(assay.Evaluation("relu", source=source, mode="profile"))
    assert (result.outcome, result.error_kind, result.stage) == ("pass", "none", "done")
    assert result.perf == 2.5 and result.correct and result.compiled and result.usable
    assert result.cases == result.cases_passed >= 1
    assert (result.mode, result.operator, result.device) == ("profile", "relu", "fake")
    assert not result.infra and not result.suspect and "pass" in result.feedback


def test_an_answer_at_once_has_the_ids(server: Server, client: assay.Client) -> None:
    status, body = post(server, {"evaluations": [one(source=SLOW, group="at once")]})
    assert status == 202 and body["pending"] == 1
    found = body["evaluations"][0]
    assert found["id"].startswith("job_") and found["state"] in ("queued", "running")
    assert client.get([found["id"]])[0].pending
    cancelled = client.cancel([found["id"]])[0]
    assert cancelled.state == "cancelled" and cancelled.masked and not cancelled.infra


def test_the_code_of_a_completion_is_the_source(client: assay.Client) -> None:
    reply = "I think so.\n```python\ndef f(): pass\n```\nBetter:\n```python\n# fake: fail\n```\n"
    result = client.evaluate(assay.Evaluation("vector_add", completion=reply))
    assert result.outcome == "fail" and result.error_kind == "wrong_result"


@pytest.mark.parametrize(
    "reply",
    ["", "I cannot.", "```python\n# fake: pass\0\n```", f"```python\n#{'x' * (1 << 20)}\n```"],
    ids=["empty", "no code", "no text", "too long"],
)
def test_a_completion_without_a_source_is_judged_and_not_masked(
    client: assay.Client, reply: str
) -> None:
    """A model could learn to escape its reward with a reply that is refused."""
    result = client.evaluate(assay.Evaluation("vector_add", completion=reply))
    assert result.finished and result.usable and not result.masked


def test_a_grade_takes_no_group(server: Server) -> None:
    status, body = post(server, {"evaluations": [one(mode="grade", group="g", run="run_x")]})
    assert status == 400, body
    problem = body["evaluations"][0]["problem"]
    assert "a grade has inputs of its own" in problem["detail"], problem


def test_a_broken_member_does_not_disturb_the_others(server: Server) -> None:
    members = [
        one(),
        one(operator="vectoradd"),
        one(source=FAIL),
        {"operator": "vector_add"},
        one(mode="gradee"),
        7,
        one(device="cuda"),
        one(deadline="2001-01-01T00:00:00Z"),
        one(deadline="tomorrow"),
        one(suite="no-such-suite"),
        one(mode="grade"),
        one(language="fortran"),
    ]
    status, body = post(server, {"evaluations": members, "wait_ms": 20_000})
    assert status == 200, body
    states = [found["state"] for found in body["evaluations"]]
    assert states == ["finished", "refused", "finished", *["refused"] * 9]
    kinds = [found["problem"]["type"] for found in body["evaluations"] if "problem" in found]
    assert kinds == [
        PROBLEM + kind
        for kind in (
            "unknown-name",
            "invalid-request",
            "invalid-request",
            "invalid-request",
            "unknown-name",
            "deadline-passed",
            "invalid-request",
            "unknown-name",
            "invalid-request",
            "invalid-request",
        )
    ]
    assert "did you mean 'vector_add'" in body["evaluations"][1]["problem"]["detail"]


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ("{", 400, "invalid-request"),
        ("[" * 100, 400, "invalid-request"),
        ([], 400, "invalid-request"),
        ({"evaluations": []}, 400, "invalid-request"),
        ({"evaluations": [one()] * 257}, 400, "invalid-request"),
        ({"evaluations": [one()], "wait_ms": 60_001}, 400, "invalid-request"),
        ({"evaluations": [one()], "rewards": ["kevin2"]}, 404, "unknown-name"),
        ({"evaluations": [one(operator="none")]}, 404, "unknown-name"),
        (
            {"evaluations": [one()], "rewards": [{"name": "a", "expression": "1 +"}]},
            400,
            "policy-invalid",
        ),
    ],
    ids=str,
)
def test_a_bad_request_is_a_problem(server: Server, body: Any, status: int, kind: str) -> None:
    got, problem = post(server, body)
    assert (got, problem["type"], problem["status"]) == (status, PROBLEM + kind, status), problem
    assert problem["detail"] and problem["title"]


def test_paths_and_methods(server: Server) -> None:
    status, headers, text = server.request("GET", "/v1/evaluate")
    assert (status, headers["allow"]) == (405, "POST") and PROBLEM in text
    assert server.request("GET", "/v1/none")[0] == 404
    assert server.request("GET", "/v1/evaluations")[0] == 400
    assert server.request("GET", "/v1/evaluations?ids=job_1&x=1")[0] == 400
    assert server.request("GET", "/v1/evaluations?ids=%zz")[0] == 400
    unknown = "job_" + "0" * 26
    path = "/v1/evaluations?ids=" + unknown
    status, _, text = server.request("GET", path, more_headers={"Accept": "application/json"})
    assert status == 404 and json.loads(text)["type"] == PROBLEM + "not-found"
    status, _, text = server.request(
        "POST", "/v1/evaluate", "x", "", {"Content-Type": "text/plain"}
    )
    assert status == 415 and PROBLEM in text


def test_a_key_belongs_to_one_evaluation(server: Server) -> None:
    def send(**members: Any) -> tuple[int, dict[str, Any]]:
        return post(server, {"evaluations": [one(**members)], "wait_ms": 20_000})

    _, first = send(idempotency_key="k1")
    _, again = send(idempotency_key="k1", priority="high")
    assert first["evaluations"][0]["id"] == again["evaluations"][0]["id"]
    assert not first["evaluations"][0]["duplicate"] and again["evaluations"][0]["duplicate"]
    status, problem = send(idempotency_key="k1", source=FAIL)
    assert (status, problem["type"]) == (409, PROBLEM + "key-reused")
    _, other = send(idempotency_key="k2")
    assert other["evaluations"][0]["id"] != first["evaluations"][0]["id"]


def test_a_key_is_free_after_an_error_of_assay(server: Server) -> None:
    body = {"evaluations": [one(source="# fake: error=internal_error\n")], "wait_ms": 20_000}
    body["rewards"] = ["kevin"]
    found = [post(server, body)[1]["evaluations"][0] for _ in range(2)]
    assert all(result["infra"] and result["masked"] for result in found)
    assert found[0]["rewards"] == {"kevin": None}
    assert found[0]["id"] != found[1]["id"]


def test_equal_sources_of_a_group_are_judged_once(client: assay.Client) -> None:
    members = [assay.Evaluation("vector_add", source=PASS, group="once")] * 16
    members.append(assay.Evaluation("vector_add", source=FAIL, group="once"))
    results = client.evaluate_all(members)
    assert len({result.id for result in results}) == 2
    assert [result.duplicate for result in results] == [False, *[True] * 15, False]
    assert len({result.inputs for result in results}) == 1 and results[0].inputs
    assert results[0].group == "once"


def test_a_verdict_that_was_read_ends_the_inputs_of_its_group(
    server: Server, client: assay.Client
) -> None:
    def send(number: int) -> assay.Result:
        source = f"{PASS}# {number}\n"
        evaluation = assay.Evaluation("vector_add", source=source, group="read")
        return client.submit([evaluation])[0]

    first = send(1)
    wait_until(lambda: running_jobs(server) == 0)
    assert send(2).inputs == first.inputs  # nobody has read a verdict
    server.call("job", {"job": first.id, "wait_s": 20})  # over MCP
    third = send(3)
    assert third.inputs != first.inputs
    assert client.get([third.id], wait_ms=20_000)[0].finished  # over HTTP
    assert send(4).inputs != third.inputs


def test_a_stop_ends_the_waits_of_clients(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, "--drain-s", "0") as server:
        connection = server.connection()
        body = json.dumps({"evaluations": [one(source=SLOW)], "wait_ms": 60_000})
        connection.request("POST", "/v1/evaluate", body, {"Content-Type": "application/json"})
        wait_until(lambda: running_jobs(server) > 0)
        server.process.terminate()
        answer = connection.getresponse()
        assert answer.status == 202 and json.loads(answer.read())["pending"] == 1
        connection.close()
        server.process.wait(WAIT_S)


def test_a_client_that_leaves_cancels_nothing(server: Server, client: assay.Client) -> None:
    source = "# fake: sleep_ms=5000\n# leaves\n"
    body = json.dumps({"evaluations": [one(source=source)], "wait_ms": 20_000})
    connection = server.connection()
    connection.request("POST", "/v1/evaluate", body, {"Content-Type": "application/json"})
    wait_until(lambda: running_jobs(server) > 0)
    connection.close()
    result = client.evaluate(assay.Evaluation("vector_add", source=source))
    assert result.duplicate and result.outcome == "pass"


def test_events(server: Server, client: assay.Client) -> None:
    sources = ["# fake: pass\n# event\n", "# fake: sleep_ms=100\n# event\n"]
    members = [assay.Evaluation("vector_add", source=source) for source in sources]
    ids = [result.id for result in client.submit(members)]
    path = f"/v1/evaluations?ids={','.join(ids)}&rewards=kevin&wait_ms=20000"
    status, headers, text = server.request("GET", path, "", "", {"Accept": "text/event-stream"})
    assert status == 200 and headers["content-type"] == "text/event-stream"
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    assert [event["type"] for event in events] == ["evaluation", "evaluation", "end"]
    assert {event["evaluation"]["id"] for event in events[:2]} == set(ids)
    assert events[0]["evaluation"]["rewards"] == {"kevin": 0.3} and events[2]["pending"] == 0


REWARDS = {
    # pass with Perf 2, wrong, does not compile
    "staged": (320.0, 20.0, 0.0),
    "kevin": (2.3, 0.0, 0.0),
    "drkernel": (1.0, 0.0, 0.0),
    "drkernel_coverage": (1.0, 0.0, 0.0),
    "sol": (0.0, 0.0, 0.0),
    "peak_fraction": (0.0, 0.0, 0.0),
}


def test_the_policies(client: assay.Client) -> None:
    sources = ["# fake: pass\n# fake: perf=2\n", FAIL, "# fake: error=compilation_error\n"]
    members = [assay.Evaluation("relu", source=one, mode="profile") for one in sources]
    results = client.evaluate_all(members, rewards=list(REWARDS))
    assert {row["name"] for row in client.policies()["policies"]} == set(REWARDS)
    for name, rewards in REWARDS.items():
        assert tuple(result.rewards[name] for result in results) == rewards, name


@pytest.mark.parametrize(
    ("expression", "reward"),
    [
        ("1 + 2 * 3 - 4 / 8", 6.5),
        ("-2 ^ 2 + 2 ^ 3 ^ 2", 508),
        ("(1 < 2) + (2 <= 2) + (3 > 4) + (4 >= 4) + (1 == 1) + (1 != 1)", 4),
        ("!0 && 1 || 0", 1),
        ("correct ? clip(perf, 0, 1.5) : -1", 1.5),
        ("min(3, 4) + max(3, 4) + abs(-1) + sqrt(4) + log(exp(2))", 12),
        ("0 ? 1 : 0 ? 2 : 3", 3),
        ("1 / 0", None),
        ("log(-1)", None),
        ("1e3 + .5", 1000.5),
    ],
)
def test_an_expression(client: assay.Client, expression: str, reward: float | None) -> None:
    evaluation = assay.Evaluation("relu", source="# fake: perf=2\n", mode="profile")
    result = client.evaluate(evaluation, rewards=[assay.Policy("own", expression)])
    assert result.rewards == {"own": reward}


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("1 +", "character 4"),
        ("correct correct", "character 9; valid: an operator"),
        ("speed", "the variables compiled, correct"),
        ("min(1)", "','"),
        ("system(1)", "the functions abs, clip"),
        ("(" * 50 + "1" + ")" * 50, "nested levels"),
        ("1" + "+1" * 450, "operations"),
        ("1 " * 600, "rewards"),
        ("1 = 1", "an operator"),
        ("-" * 60 + "1", "nested levels"),
    ],
)
def test_an_expression_that_does_not_parse(server: Server, expression: str, says: str) -> None:
    rewards = [{"name": "own", "expression": expression}]
    status, problem = post(server, {"evaluations": [one()], "rewards": rewards})
    assert status == 400 and says in problem["detail"], problem["detail"]


def test_a_policy_is_named_once_and_there_are_eight(server: Server) -> None:
    assert post(server, {"evaluations": [one()], "rewards": ["kevin", "kevin"]})[0] == 400
    assert post(server, {"evaluations": [one()], "rewards": ["kevin"] * 9})[0] == 400


def test_a_grade_is_charged_to_its_run(client: assay.Client) -> None:
    run = client.start_run("trainer", "none", track="iterative", suite="vector_add")
    assert run.operators == ["vector_add"]

    def grade(source: str) -> assay.Result:
        members = [assay.Evaluation("vector_add", source=source, mode="grade", run=run.run)]
        return client.evaluate_all(members)[0]

    first = grade(PASS)
    assert first.outcome == "pass"
    assert grade(PASS).id == first.id  # an equal source is no second submission
    refused = grade(FAIL).problem
    assert refused is not None and refused.kind == "forbidden"
    assert "allows 1 submit" in refused.detail


def test_a_label_of_a_run_is_one_line(server: Server) -> None:
    body = {"agent": "trainer", "model": "none", "suite": "relu"}
    for key in body.keys() - {"suite"}:
        for label in ("a\nok: Pass@1 100 %", "\t=1+1", "a\u2028b"):
            status, problem = post(server, body | {key: label}, "/v1/runs")
            assert status == 400, problem
            assert f"{key} must be one line without control characters" in problem["detail"]


def test_a_repeated_request_for_a_run_gets_the_same_run(server: Server) -> None:
    body = {"agent": "trainer", "model": "none", "track": "iterative", "suite": "relu"}
    runs = [
        post(server, body | {"idempotency_key": key} if key else body, "/v1/runs")
        for key in ("a", "a", "b", "", "")
    ]
    assert [status for status, _ in runs] == [201] * 5
    handles = [run["run"] for _, run in runs]
    assert handles[0] == handles[1] and len(set(handles)) == 4
    status, problem = post(
        server, body | {"idempotency_key": "a", "suite": "vector_add"}, "/v1/runs"
    )
    assert status == 400 and "belongs to a run with another" in problem["detail"], problem


def test_a_grade_shows_one_bit_about_hidden_cases(client: assay.Client) -> None:
    run = client.start_run("trainer", "none")
    evaluation = assay.Evaluation("vector_add", source=FAIL, mode="grade", run=run.run)
    result = client.evaluate(evaluation)
    spec = client.operators(["vector_add"], prompts=True)[0]["prompt"]
    assert "vector_add" in spec
    assert result.outcome == "fail" and result.elapsed_ms % 1000 == 0
    shown = json.dumps(result.__dict__, default=str)
    assert "4112" not in shown and "1000003" not in shown


def test_tokens(tokens: Any) -> None:
    with assay.Client(tokens.url) as stranger, pytest.raises(assay.ProblemError) as refused:
        stranger.policies()
    assert refused.value.problem.kind == "unauthorized"
    with (
        assay.Client(tokens.url, tokens.secrets["alice"]) as alice,
        assay.Client(tokens.url, tokens.secrets["bob"]) as bob,
    ):
        evaluation = assay.Evaluation("vector_add", source=PASS, idempotency_key="shared")
        mine, theirs = alice.evaluate(evaluation), bob.evaluate(evaluation)
        assert mine.id != theirs.id and not theirs.duplicate
        unseen = bob.get([mine.id])[0]
        assert unseen.problem is not None and unseen.problem.kind == "not-found"
        assert bob.start_run("a", "b", track="one_shot", suite="relu").run.startswith("run_")
        with pytest.raises(assay.ProblemError) as no_scope:
            alice.start_run("a", "b", track="one_shot", suite="relu")
        assert no_scope.value.problem.kind == "forbidden"
