"""Compares the messages of a server on stdio with the golden files tests/wire/tools/*.json: the list
of tools, and the answers to calls that name no valid source. If ASSAY_APPROVE=1 is set, the current
responses replace those in the files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from stdio_client import META, StdioClient, serve_command

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/wire/tools"
MAX_LIST_BYTES = 16_000  # as in tests/clients/test_tool_list.py
JUDGING = ("compile", "run_tests", "profile", "check", "submit")
EDIT = "<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n"
JOB = "job_" + "0" * 26
SOURCES: dict[str, dict[str, Any]] = {
    "source_missing": {},
    "source_twice": {"code": "x = 1\n", "source": JOB},
    "source_unknown": {"source": JOB},
    "source_malformed": {"source": "job_1"},
    "source_of_another_type": {"source": 1},
    "edits_without_source": {"code": "x = 1\n", "edits": EDIT},
    "path_without_folder": {"path": "x.py"},
}


def response_to(
    binary: str, folder: Path, method: str, params: dict[str, Any], *options: str
) -> tuple[dict[str, Any], int]:
    """Returns the response without its `_meta`, which has the version, and the size of the whole
    response in bytes."""
    command = serve_command(Path(binary).resolve(), "fake", folder / "assay.db", *options)
    client = StdioClient(command)
    try:
        response = client.send(method, {**params, "_meta": META})
    finally:
        client.close()
    compact = json.dumps(response, separators=(",", ":"), ensure_ascii=False)
    response["result"].pop("_meta")
    return response, len(compact.encode())


def compare(name: str, method: str, params: dict[str, Any], response: dict[str, Any]) -> None:
    actual = {"request": {"method": method, "params": params}, "response": response}
    file = GOLDEN / f"{name}.json"
    if os.environ.get("ASSAY_APPROVE") == "1":
        file.write_text(json.dumps(actual, indent=2, sort_keys=True) + "\n")
    assert actual == json.loads(file.read_text())


def test_the_list_of_tools(binary: str, tmp_path: Path) -> None:
    response, size = response_to(binary, tmp_path, "tools/list", {})
    assert size <= MAX_LIST_BYTES
    compare("list", "tools/list", {}, response)


def test_the_list_of_tools_with_a_source_folder(binary: str, tmp_path: Path) -> None:
    """The tools that judge a source take `path`. Nothing else changes, and the list stays short."""
    options = ("--source-folder", str(tmp_path))
    response, size = response_to(binary, tmp_path, "tools/list", {}, *options)
    assert size <= MAX_LIST_BYTES
    for tool in response["result"]["tools"]:
        path = tool["inputSchema"]["properties"].pop("path", None)
        assert (path is not None) == (tool["name"] in JUDGING)
    assert response == json.loads((GOLDEN / "list.json").read_text())["response"]


@pytest.mark.parametrize("name", SOURCES)
def test_a_call_without_a_valid_source(binary: str, tmp_path: Path, name: str) -> None:
    arguments = {"operator": "vector_add", **SOURCES[name]}
    params = {"name": "run_tests", "arguments": arguments}
    response, _ = response_to(binary, tmp_path, "tools/call", params)
    compare(name, "tools/call", params, response)


def test_every_golden_file_has_a_case() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == {"list", *SOURCES}
