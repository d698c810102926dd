"""Solves an operator with the official Python client, over stdio and HTTP, and sends its source
only once: as `code`, or as a file (`path`). Later calls name the source by `source` and `edits`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp
import pytest
from http_serving import new_token, serving
from mcp.client.streamable_http import streamable_http_client

ADD = """\
# fake: fail
def vector_add(x, y):
    return x
"""
EDITS = """\
<<<<<<< SEARCH
# fake: fail
=======
# fake: pass
>>>>>>> REPLACE
"""
CHECK = {"entry": "f", "reference": "def f(x): return x", "inputs": ["x=f32[8]"]}
Call = Callable[..., Awaitable[tuple[str, dict[str, Any]]]]


@asynccontextmanager
async def connected(target: Any) -> AsyncIterator[tuple[Call, mcp.Client]]:
    async with mcp.Client(target) as client:

        async def call(tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
            result = await client.call_tool(tool, arguments)
            return result.content[0].text, result.structured_content or {}

        yield call, client


def stdio(binary: str, folder: Path, *options: str) -> mcp.StdioServerParameters:
    arguments = ["serve", "--stdio", "--device", "fake", "--store", str(folder / "a.db"), *options]
    return mcp.StdioServerParameters(command=binary, args=arguments, env=dict(os.environ))


async def solve(call: Call, first: dict[str, Any]) -> None:
    """Makes a mistake in the source `first`, and then sends only handles and edits."""
    _, started = await call("start_run", agent="a", model="m", suite="vector_add")
    kernel = {"operator": "vector_add", "run": started["run"]}
    text, wrong = await call("run_tests", **kernel, **first)
    assert wrong["outcome"] == "fail" and wrong["job"] in text
    bad = EDITS.replace("# fake: fail", "# fake: nothing")
    text, refused = await call("run_tests", **kernel, source=wrong["job"], edits=bad)
    assert refused["error"]["code"] == "invalid_argument"
    assert "edit 1 matches nothing: no line is '# fake: nothing'" in text
    _, right = await call("run_tests", **kernel, source=wrong["job"], edits=EDITS)
    assert right["outcome"] == "pass"
    for tool in ("compile", "profile", "submit"):
        _, verdict = await call(tool, **kernel, source=right["job"])
        assert verdict["outcome"] == "pass", (tool, verdict)
    _, card = await call("scorecard", run=started["run"])
    assert card["passed"] == 1
    text, again = await call("run_tests", operator="vector_add", source=wrong["job"])
    assert again["outcome"] == "fail", "the earlier source has changed"


async def bad_inputs(call: Call) -> None:
    _, made = await call("compile", operator="vector_add", code=ADD)
    source = made["job"]
    for named in ({"operator": "vector_add"}, CHECK):
        tools = ("check",) if named is CHECK else ("compile", "run_tests", "profile", "submit")
        for tool in tools:
            more = {"run": "run_" + "0" * 26} if tool == "submit" else {}
            for arguments, code, told in (
                ({}, "invalid_argument", "the source is missing; valid: one of `code`"),
                ({"code": ADD, "source": source}, "invalid_argument", "several sources"),
                ({"code": ADD, "edits": EDITS}, "invalid_argument", "`edits` needs `source`"),
                ({"source": source, "edits": ""}, "invalid_argument", "there is no edit"),
                ({"source": "x"}, "invalid_argument", "not a job handle"),
                ({"source": "job_" + "0" * 26}, "not_found", "unknown job"),
            ):
                text, answer = await call(tool, **named, **more, **arguments)
                assert answer["error"]["code"] == code, (tool, arguments, text)
                assert told in text, (tool, arguments, text)


def test_a_source_is_sent_once_over_stdio(binary: str, tmp_path: Path) -> None:
    async def session() -> None:
        async with connected(stdio(binary, tmp_path)) as (call, _):
            await solve(call, {"code": ADD})
            await bad_inputs(call)

    asyncio.run(session())


def test_a_source_is_sent_once_over_http(binary: str, tmp_path: Path) -> None:
    async def session(port: int) -> None:
        url = f"http://127.0.0.1:{port}/mcp"
        async with connected(streamable_http_client(url)) as (call, client):
            await solve(call, {"code": ADD})
            await bad_inputs(call)
            for tool in (await client.list_tools()).tools:
                assert "path" not in tool.input_schema["properties"]
            text, _ = await call("run_tests", operator="vector_add", path="a.py")
            assert "path" in text

    with serving(binary, tmp_path) as server:
        asyncio.run(session(server.port))


@pytest.mark.parametrize("absolute", [False, True])
def test_a_file_of_the_source_folder(binary: str, tmp_path: Path, absolute: bool) -> None:
    folder = tmp_path / "kernels"
    (folder / "sub").mkdir(parents=True)
    file = folder / "sub/add.py"
    file.write_text(ADD)

    async def session() -> None:
        target = stdio(binary, tmp_path, "--source-folder", str(folder))
        async with connected(target) as (call, client):
            assert str(folder) in (client.instructions or "")
            await solve(call, {"path": str(file) if absolute else "sub/add.py"})
            file.write_text(ADD.replace("fail", "pass"))
            _, changed = await call("run_tests", operator="vector_add", path="sub/add.py")
            assert changed["outcome"] == "pass"

    asyncio.run(session())


def test_files_that_the_tools_refuse(binary: str, tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    (tmp_path / "secret.py").write_text(ADD)
    (folder / "link.py").symlink_to(tmp_path / "secret.py")
    (folder / "latin.py").write_bytes(b"# \xe9\n")
    (folder / "binary.py").write_bytes(b"\x7fELF\0")
    (folder / "empty.py").touch()
    (folder / "large.py").write_bytes(b"#" * ((1 << 20) + 1))
    (folder / "sub").mkdir()
    os.mkfifo(folder / "fifo")

    async def session() -> None:
        target = stdio(binary, tmp_path, "--source-folder", str(folder))
        async with connected(target) as (call, _):
            for path, told in (
                ("link.py", "leads out of the folder"),
                ("../secret.py", "leads out of the folder"),
                (str(tmp_path / "secret.py"), "is not in the folder"),
                ("none.py", "there is no file 'none.py'"),
                ("latin.py", "the file is not UTF-8"),
                ("binary.py", "the file is binary"),
                ("empty.py", "the file is empty"),
                ("large.py", "larger than 1048576 bytes"),
                ("sub", "is a folder, not a regular file"),
                ("fifo", "is a FIFO, not a regular file"),
                ("", "`path` is empty"),
            ):
                for tool, named in (("run_tests", {"operator": "vector_add"}), ("check", CHECK)):
                    text, answer = await call(tool, **named, path=path)
                    assert answer["status"] == "error" and told in text, (path, text)

    asyncio.run(session())


def test_the_language_of_a_file_and_of_an_earlier_call(binary: str, tmp_path: Path) -> None:
    """An operator in Gluon refuses CUDA C++, which shows the language of a source."""
    (tmp_path / "k.cu").write_text("// fake: pass\n")

    async def session() -> None:
        target = stdio(binary, tmp_path, "--source-folder", str(tmp_path))
        async with connected(target) as (call, _):
            _, listed = await call("list_operators", dialect="gluon")
            gluon = listed["names"][0]
            _, first = await call("run_tests", operator="vector_add", path="k.cu")
            assert first["outcome"] == "pass"
            for named in ({"path": "k.cu"}, {"source": first["job"]}):
                text, refused = await call("run_tests", operator=gluon, **named)
                assert refused["error"]["code"] == "invalid_argument"
                assert "valid: language=python" in text
                _, other = await call("run_tests", operator=gluon, language="python", **named)
                assert other["outcome"] == "pass"
            _, third = await call("run_tests", operator=gluon, source=other["job"])
            assert third["outcome"] == "pass", "the language that was given is taken over"

    asyncio.run(session())


def test_the_source_of_another_client_is_unknown(binary: str, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice, bob = (new_token(binary, tokens, name, "practice") for name in ("alice", "bob"))
    kernel = {"operator": "vector_add"}
    with serving(binary, tmp_path, "--token-file", str(tokens)) as server:
        made = server.call("run_tests", {**kernel, "code": ADD}, bob)["structuredContent"]
        mine = {**kernel, "source": made["job"]}
        none = {**kernel, "source": "job_" + "0" * 26}
        for edits in ({}, {"edits": EDITS}, {"edits": "no edit"}):
            stolen = server.call("run_tests", {**mine, **edits}, alice)
            assert stolen["structuredContent"]["error"]["code"] == "not_found"
            assert stolen == server.call("run_tests", {**none, **edits}, alice)
        assert not server.call("run_tests", mine, bob).get("isError")


def test_a_source_survives_the_server(binary: str, tmp_path: Path) -> None:
    async def call_once(**arguments: Any) -> dict[str, Any]:
        async with connected(stdio(binary, tmp_path)) as (call, _):
            return (await call("run_tests", operator="vector_add", **arguments))[1]

    first = asyncio.run(call_once(code=ADD))
    assert asyncio.run(call_once(source=first["job"], edits=EDITS))["outcome"] == "pass"


def test_the_option_source_folder(assay: Any, tmp_path: Path) -> None:
    none = assay("serve", "--device", "fake", "--source-folder", str(tmp_path / "none"))
    assert none.returncode == 66 and str(tmp_path / "none") in none.stderr
    http = assay("serve", "--http", "127.0.0.1:0", "--source-folder", str(tmp_path))
    assert http.returncode == 64 and "--http excludes --source-folder" in http.stderr
    shown = assay("serve", "--print-config", "json", "--source-folder", str(tmp_path))
    arguments = json.loads(shown.stdout)["mcpServers"]["assay"]["args"]
    assert arguments[-2:] == ["--source-folder", str(tmp_path)]
