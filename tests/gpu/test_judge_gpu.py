"""Tests an operator whose own code breaks the judge's CUDA context. Its job must fail, and the next
operator must be judged as usual."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from gpu_server import serve
from stdio_client import StdioClient

ROOT = Path(__file__).resolve().parent.parent.parent
WELL = "vector_add"
ORACLE = (ROOT / "operators/standard" / WELL / "oracle.py").read_text()

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    suite = tmp_path_factory.mktemp("suite")
    for name in (WELL, "breaks"):
        shutil.copytree(ROOT / "operators/standard" / WELL, suite / "standard" / name)
    spec, reference = suite / "standard/breaks/spec.toml", suite / "standard/breaks/reference.py"
    spec.write_text(spec.read_text().replace(f'name = "{WELL}"', 'name = "breaks"', 1))
    assert "return x + y" in reference.read_text()
    # This index triggers an assertion on the device.
    out_of_range = "return x[torch.full((1,), 2**40, dtype=torch.int64, device=x.device)] + y"
    reference.write_text(reference.read_text().replace("return x + y", out_of_range, 1))
    yield from serve(tmp_path_factory.mktemp("store") / "assay.db", "--suite", str(suite))


def outcome(client: StdioClient, operator: str) -> tuple[str, str]:
    answer = client.call("run_tests", {"operator": operator, "code": f"{ORACLE}\n# {operator}\n"})[
        "structuredContent"
    ]
    while answer.get("status") in ("queued", "running"):
        answer = client.call("job", {"job": answer["job"], "wait_s": 20})["structuredContent"]
    return answer["outcome"], answer.get("error_kind", "")


def test_the_next_operator_is_judged(client: StdioClient) -> None:
    assert outcome(client, WELL)[0] == "pass"
    for _ in range(2):
        assert outcome(client, "breaks") == ("error", "reference_error")
        assert outcome(client, WELL)[0] == "pass"
