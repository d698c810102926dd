"""Tests cases whose inputs reach the launcher in memory files, although the judge shares device
memory. A file takes the place of GPU memory."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from harness.wire.frames import Frame
from harness.wire.tensors import MappedFile, aligned, make_memfd
from judge_client import write_operator
from test_shared_buffers import Conversation


@pytest.fixture
def talk() -> Conversation:
    return Conversation()


def tensor_in(reply: Frame, wire: dict[str, Any]) -> torch.Tensor:
    with MappedFile(reply.fds[wire["fd"]], writable=False) as memory:
        return memory.tensor(wire).clone()


def test_a_small_case_goes_through_memory_files_and_maps_no_device_memory(
    talk: Conversation, tmp_path: Path
) -> None:
    folder = write_operator(tmp_path / "op")
    reply = talk.prepare(folder, "job_1", host_case_bytes=1 << 20)
    assert "device" not in reply.header
    assert talk.buffers.size == 0 and not talk.judge._owned
    assert talk.judge._jobs["job_1"]["first"].refresh() == ""
    for case in reply.header["cases"]:
        assert "device" not in case
        tensors = {one["name"]: one for one in case["arguments"] if one["kind"] == "tensor"}
        x, index = tensor_in(reply, tensors["x"]), tensor_in(reply, tensors["index"])
        state = talk.judge._jobs["job_1"][case["id"]]
        assert torch.equal(x, state.arguments["x"])
        assert torch.equal(index, state.arguments["index"])
        # A candidate gets the file of the structural argument, and so no value of another input.
        assert tensors["index"]["fd"] != tensors["x"]["fd"]
        # Each file has tensors of one case only, because the launcher maps whole files.
        for one in (tensors["index"], tensors["x"]):
            assert os.fstat(reply.fds[one["fd"]]).st_size == aligned(one["nbytes"])
        for factor, kind in ((2.0, "none"), (2.5, "wrong_result")):
            fd, wires = make_memfd("outputs", [("output_0", factor * x), ("output_1", index + 1)])
            wanted = {"type": "compare", "job": "job_1", "case": case["id"], "outputs": wires}
            assert talk.ask(wanted, [fd]).header["kind"] == kind


def test_large_cases_and_those_that_will_be_timed_stay_in_device_memory(
    talk: Conversation, tmp_path: Path
) -> None:
    folder = write_operator(tmp_path / "op")
    reply = talk.prepare(folder, "job_1", host_case_bytes=1 << 20, device_cases=["second"])
    first, second = reply.header["cases"]
    assert "device" not in first and "device" in second
    # Two files of the first case, one of the second case, and the handle.
    assert len(reply.fds) == 4 and reply.header["device"]["fd"] == 3
    assert talk.compare("job_1", "second", talk.answer(second, 2.0))["kind"] == "none"
    state = talk.judge._jobs["job_1"]["second"]
    for limit, on_device in ((state.copied_bytes(), False), (state.copied_bytes() - 1, True)):
        again = talk.prepare(folder, "job_2", host_case_bytes=limit).header
        assert ["device" in case for case in again["cases"]] == [on_device] * 2
        assert ("device" in again) == on_device
