"""Tests how the judge times references after torch.compile. If a reference has no time, there must
be a reason. tests/e2e/test_operators_compiled.py really compiles a reference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from judge_client import REFERENCE, JudgeClient, write_operator

RETURN = "return a * x, index + 1"


@pytest.fixture(scope="module")
def judge() -> Iterator[JudgeClient]:
    client = JudgeClient()
    yield client
    client.channel.close()
    client.process.wait(20)


def timed(judge: JudgeClient, folder: Path, **case: Any) -> dict[str, Any]:
    wire = {"id": "small", "axes": {"rows": 4, "cols": 3}, "dtype": "float32"}
    wire |= {"distribution": "normal", **case}
    header = {"type": "time_compiled", "operator_dir": str(folder), "case": wire}
    return judge.ask(header).header


def test_a_reference_that_refuses_to_be_compiled_is_unsupported(
    judge: JudgeClient, tmp_path: Path
) -> None:
    refusing = f"if torch.compiler.is_compiling():\n        raise RuntimeError('no')\n    {RETURN}"
    folder = write_operator(tmp_path / "a", reference=REFERENCE.replace(RETURN, refusing))
    reply = timed(judge, folder)
    assert reply["type"] == "timed_compiled" and reply["case"] == "small"
    assert "ns" not in reply
    assert reply["unsupported"]


def test_inputs_that_cannot_be_made_are_a_reason_too(judge: JudgeClient, tmp_path: Path) -> None:
    folder = write_operator(tmp_path / "b", reference=REFERENCE.replace('{"a": 2.0', '{"b": 2.0'))
    assert "inputs() returned" in timed(judge, folder)["unsupported"]


def test_a_case_of_no_known_type_is_an_error_of_the_operator(
    judge: JudgeClient, tmp_path: Path
) -> None:
    reply = timed(judge, write_operator(tmp_path / "c"), dtype="float7")
    assert reply["type"] == "judge_error" and "float7" in reply["message"]
