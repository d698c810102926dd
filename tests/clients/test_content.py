"""Tests resources, templates, prompts and completion with every official client."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from assay_server import serving
from mcp_sessions import CLIENTS, Session, connect

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
GOOD = "# fake: pass\ndef vector_add(x, y):\n    return x\n"
WRONG = "# fake: fail\ndef vector_add(x, y):\n    return x\n"
TEMPLATES = {
    "operator://{name}/spec",
    "operator://{name}/reference",
    "guide://{topic}",
    "run://{run}/scorecard",
    "artifact://{id}",
}


def all_resources(session: Session) -> list[dict[str, Any]]:
    """Returns the resources of all pages."""
    found: list[dict[str, Any]] = []
    page = session.request("listResources", {})
    while True:
        found += page["resources"]
        if not page.get("nextCursor"):
            return found
        page = session.request("listResources", {"cursor": page["nextCursor"]})


def read(session: Session, uri: str) -> str:
    contents = session.request("readResource", {"uri": uri})["contents"]
    assert [one["uri"] for one in contents] == [uri]
    text: str = contents[0]["text"]
    return text


def prompt(session: Session, name: str, **arguments: str) -> str:
    messages = session.request("getPrompt", {"name": name, "arguments": arguments})["messages"]
    assert [message["role"] for message in messages] == ["user"]
    text: str = messages[0]["content"]["text"]
    return text


def complete(
    session: Session, ref: dict[str, str], name: str, typed: str, **others: str
) -> list[str]:
    params: dict[str, Any] = {"ref": ref, "argument": {"name": name, "value": typed}}
    if others:
        params["context"] = {"arguments": others}
    values: list[str] = session.request("complete", params)["completion"]["values"]
    return values


def test_resources(session: Session) -> None:
    listed = all_resources(session)
    uris = {one["uri"] for one in listed}
    assert "guide://triton-pitfalls" in uris
    # The operators are reached through templates, so that a client's model need not read a list of
    # hundreds of entries.
    assert all(uri.startswith("guide://") for uri in uris)
    assert all(one["name"] and one["title"] and one["mimeType"] for one in listed)
    assert {
        one["uriTemplate"]
        for one in session.request("listResourceTemplates", {})["resourceTemplates"]
    } == TEMPLATES

    spec = session.call("fetch_spec", {"operator": "vector_add", "response_format": "detailed"})
    assert read(session, "operator://vector_add/spec") == spec["content"][0]["text"]
    assert "def reference(" in read(session, "operator://vector_add/reference")
    assert (
        read(session, "guide://triton-pitfalls")
        == (ROOT / "operators/guides/triton-pitfalls.md").read_text()
    )

    run = session.call("start_run", {"agent": "a", "model": "m", "suite": "vector_add"})[
        "structuredContent"
    ]["run"]
    assert "Pass@1" in read(session, f"run://{run}/scorecard")
    compiled = session.call("compile", {"operator": "vector_add", "code": GOOD})[
        "structuredContent"
    ]
    assert "fake device" in read(session, f"artifact://{compiled['artifacts'][0]['artifact']}")


@pytest.fixture(scope="module")
def two_sessions(
    binary: str, node_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Session, Session]]:
    """Connects a client of each language to a server of its own."""
    store = str(tmp_path_factory.mktemp("two") / "assay.db")
    with (
        serving("stdio", binary, "--store", store, "--device", "fake") as target,
        connect(CLIENTS[0], target, node_dir) as first,
        connect(CLIENTS[5], target, node_dir) as second,
    ):
        yield first, second


@pytest.mark.parametrize(
    ("uri", "word"),
    [
        ("operator://vectoradd/spec", "vector_add"),
        ("operator://vectoradd/reference", "vector_add"),
        ("guide://nothing", "triton-pitfalls"),
        ("run://run_x/scorecard", "run"),
        ("artifact://x", "artifact"),
        ("operator://vector_add/oracle", "operator://vector_add/oracle"),
    ],
)
def test_what_is_not_there(uri: str, word: str, two_sessions: tuple[Session, Session]) -> None:
    for session in two_sessions:
        with pytest.raises(Exception, match=word):
            read(session, uri)


def test_prompts(session: Session) -> None:
    listed = {one["name"]: one for one in session.request("listPrompts", {})["prompts"]}
    assert set(listed) == {"write_kernel", "optimize_kernel", "fix_kernel"}
    required = {
        name: [one["name"] for one in entry["arguments"] if one.get("required")]
        for name, entry in listed.items()
    }
    assert required == {
        "write_kernel": ["operator"],
        "optimize_kernel": ["operator", "code"],
        "fix_kernel": ["operator", "code"],
    }

    written = prompt(session, "write_kernel", operator="vector_add")
    assert (
        "signature: vector_add(" in written
        and "run_tests" in written
        and "# Triton pitfalls" in written
    )
    faster = prompt(
        session, "optimize_kernel", operator="vector_add", code=GOOD, case="small", device="fake"
    )
    assert (
        GOOD in faster
        and '"small"' in faster
        and 'device "fake"' in faster
        and "# Memory-bound kernels" in faster
    )
    job = session.call("run_tests", {"operator": "vector_add", "code": WRONG})["structuredContent"][
        "job"
    ]
    fixed = prompt(session, "fix_kernel", operator="vector_add", code=WRONG, job=job)
    assert "wrong_result" in fixed and WRONG in fixed
    assert "it hangs" in prompt(
        session, "fix_kernel", operator="vector_add", code=WRONG, verdict="it hangs"
    )

    for bad, word in (
        ({"operator": "vectoradd"}, "vector_add"),
        ({"operator": "vector_add", "device": "tpu"}, "fake"),
        ({}, "operator"),
    ):
        with pytest.raises(Exception, match=word):
            prompt(session, "write_kernel", **bad)


def test_completion(session: Session) -> None:
    write, optimize = (
        {"type": "ref/prompt", "name": "write_kernel"},
        {"type": "ref/prompt", "name": "optimize_kernel"},
    )
    assert complete(session, write, "operator", "softmax_l") == ["softmax_last_dim"]
    assert complete(session, write, "device", "") == ["fake"]
    assert (
        complete(session, {"type": "ref/resource", "uri": "operator://{name}/spec"}, "name", "vec")[
            0
        ]
        == "vector_add"
    )
    assert "triton-pitfalls" in complete(
        session, {"type": "ref/resource", "uri": "guide://{topic}"}, "topic", ""
    )
    assert complete(session, optimize, "case", "") == []
    cases = complete(session, optimize, "case", "", operator="vector_add")
    assert cases == [
        case["id"] for case in spec_of("vector_add")["cases"] if case["visibility"] == "public"
    ]


def spec_of(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "operators/standard" / name / "spec.toml").read_text())


def test_hidden_cases_show_nowhere(serve: Any, node_dir: Path) -> None:
    """Checks that no resource, prompt or completion contains the id of a hidden case or the name of
    its input distribution."""
    with (
        serve("stdio", "--device", "fake") as target,
        connect(CLIENTS[5], target, node_dir) as session,
    ):
        uris = [one["uri"] for one in all_resources(session)]
        texts = {uri: read(session, uri) for uri in uris}
        for path in sorted((ROOT / "operators").glob("*/*/spec.toml")):
            name = path.parent.name
            texts[f"prompt {name}"] = prompt(session, "write_kernel", operator=name)
            texts[f"cases {name}"] = "\n".join(
                complete(
                    session,
                    {"type": "ref/prompt", "name": "optimize_kernel"},
                    "case",
                    "",
                    operator=name,
                )
            )
            hidden = [
                case["id"]
                for case in tomllib.loads(path.read_text())["cases"]
                if case["visibility"] == "hidden"
            ]
            assert hidden, name
            own = [
                read(session, f"operator://{name}/spec"),
                read(session, f"operator://{name}/reference"),
                texts[f"prompt {name}"],
                texts[f"cases {name}"],
            ]
            for text in own:
                assert not [
                    case
                    for case in hidden
                    if f"- {case}:" in text or f'"{case}"' in text or case in text.split()
                ], name
                assert "def inputs(" not in text and "case.distribution" not in text, name
