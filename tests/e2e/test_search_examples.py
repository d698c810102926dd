"""The example kernels as an agent finds them, through the real server."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "operators/examples"

# What agents ask, and an example that must be among the three that they get.
QUESTIONS = {
    "segmented prefix scan with a custom combine function": "scan_longest_run",
    "ragged rows with offsets": "ragged_reverse",
    "variable length sequences, empty rows": "ragged_row_median_gap",
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


def test_code_finds_what_looks_like_it(server: StdioClient) -> None:
    for path in sorted(FOLDER.glob("*.py"))[::10]:
        source = path.read_text().split("\n\n\ndef check(")[0]
        (best,) = found(server, code=source.replace("BLOCK", "B"), k=1, response_format="detailed")
        assert (best["name"], best["by"]) == (path.stem, "code")
        assert best["source"].rstrip() == source.rstrip()


def test_an_operators_reference_finds_no_kernel_of_it(server: StdioClient) -> None:
    for oracle in sorted((ROOT / "operators").glob("*/*/oracle.py")):
        assert all(example["score"] < 0.6 for example in found(server, code=oracle.read_text())), oracle


def test_a_mistake_names_what_is_valid(server: StdioClient) -> None:
    for wrong in ({}, {"query": "scan", "code": "x = y + 1"}):
        result = server.call("search_examples", wrong)
        assert result["isError"] and "query (words" in result["content"][0]["text"]


def test_many_at_once(server: StdioClient) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda query: [e["name"] for e in found(server, query=query)], list(QUESTIONS) * 3))
    assert answers[: len(QUESTIONS)] == answers[len(QUESTIONS) : 2 * len(QUESTIONS)] == answers[2 * len(QUESTIONS) :]
