"""Tests the tool `search_examples` with the real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stdio_client import META, StdioClient

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "operators/examples"

# A query, and an example that must be among the first three results.
QUESTIONS = {
    "segmented prefix scan with a custom combine function": "scan_prefix_xor",
    "ragged rows with offsets": "ragged_reverse",
    "variable length rows, some empty": "ragged_widest_gap",
    "tensor descriptor TMA": "device_tensor_descriptor",
    "persistent kernel": "persistent_rows",
    "spin lock semaphore atomic_cas": "atomic_cas_lock",
    "last block finishes the reduction": "atomic_last_program",
    "autotune configs": "autotune_by_size",
    "fp8 cast": "fp8_round_trip",
    "random numbers philox seed": "philox_uniform_noise",
    "histogram": "block_distinct_digits",
    "software pipelining num_stages": "pipelined_bilinear",
    "masking the tail of a vector": "tail_mask_hypot",
    "gluon shared memory": "gluon_shared_reload",
    "compensated Kahan summation": "kahan_sum",
    "list of tensors in one launch": "pointer_table",
    "boundary_check padding_option": "block_pointer_edges",
    "pack bits into bytes": "pack_booleans",
}


@pytest.fixture(scope="module")
def server(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    store = tmp_path_factory.mktemp("store") / "assay.db"
    client = StdioClient([binary, "serve", "--stdio", "--device", "fake", "--store", str(store)])
    yield client
    client.close()
    assert client.process.returncode == 0


def found(server: StdioClient, **arguments: Any) -> list[dict[str, Any]]:
    result = server.call("search_examples", arguments)
    assert not result.get("isError"), result
    examples: list[dict[str, Any]] = result["structuredContent"]["examples"]
    return examples


@pytest.mark.parametrize("query", QUESTIONS)
def test_a_question_finds_its_example(server: StdioClient, query: str) -> None:
    assert QUESTIONS[query] in [example["name"] for example in found(server, query=query)]


def test_the_source_of_an_earlier_call_finds_what_looks_like_it(server: StdioClient) -> None:
    code = (FOLDER / "kahan_sum.py").read_text()
    made = server.call("compile", {"operator": "vector_add", "code": code})["structuredContent"]
    assert found(server, source=made["job"]) == found(server, code=code)
    for source, code_of_error in (("job_" + "0" * 26, "not_found"), ("", "invalid_argument")):
        refused = server.call("search_examples", {"source": source})["structuredContent"]
        assert refused["error"]["code"] == code_of_error
    both = server.call("search_examples", {"source": made["job"], "code": code})
    assert "more than one of query, code, source and guide" in both["content"][0]["text"]


def test_code_finds_what_looks_like_it(server: StdioClient) -> None:
    for path in sorted(FOLDER.glob("*.py"))[::10]:
        source = path.read_text().split("\n\n\ndef check(")[0]
        (best,) = found(server, code=source.replace("BLOCK", "B"), k=1, response_format="detailed")
        assert (best["name"], best["by"]) == (path.stem, "code")
        assert best["source"].rstrip() == source.rstrip()


def test_an_operator_finds_no_kernel_of_it(server: StdioClient) -> None:
    for oracle in sorted((ROOT / "operators").glob("*/*/oracle.py")):
        assert all(example["score"] < 0.5 for example in found(server, code=oracle.read_text())), (
            oracle
        )


def test_a_mistake_names_what_is_valid(server: StdioClient) -> None:
    for wrong in ({}, {"query": "scan", "code": "x = y + 1"}):
        result = server.call("search_examples", wrong)
        assert result["isError"] and "query (words" in result["content"][0]["text"]


def test_many_at_once(server: StdioClient) -> None:
    for number, query in enumerate(list(QUESTIONS) * 3):
        server.write(
            1000 + number,
            "tools/call",
            {"name": "search_examples", "arguments": {"query": query}, "_meta": META},
        )
    answers = {}
    for _ in range(3 * len(QUESTIONS)):
        message = server.read()
        answers[message["id"] - 1000] = [
            example["name"] for example in message["result"]["structuredContent"]["examples"]
        ]
    for number in range(len(QUESTIONS)):
        assert (
            answers[number]
            == answers[number + len(QUESTIONS)]
            == answers[number + 2 * len(QUESTIONS)]
        )
