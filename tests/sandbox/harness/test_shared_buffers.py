"""Tests inputs and outputs in memory that the judge and the launcher share. Here a file takes the
place of GPU memory; tests/gpu tests the real driver."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import socket
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from harness.judging.device_room import taken_by_others
from harness.judging.judge import Judge
from harness.judging.shared_buffers import SharedBuffers, SharedBuffersPool, place
from harness.wire.device_memory import Access, DeviceMemoryError, Properties
from harness.wire.frames import Channel, Frame
from harness.wire.poison import fill_poison
from harness.wire.tensors import create_memfd
from judge_client import SPEC, answer_of, write_operator

KEPT = 8 << 30  # of unused bytes


class FileBuffers:
    """Acts like `SharedBuffers`, but uses a memory file."""

    def __init__(self) -> None:
        self.size = 0

    def room(self, size: int) -> torch.Tensor:
        if size > self.size:
            self.size = size
            self.fd = create_memfd("shared-buffers", size)
            self.memory = torch.frombuffer(mmap.mmap(self.fd, size), dtype=torch.uint8)
        return self.memory

    def handle(self) -> int:
        return os.dup(self.fd)

    def free(self) -> None:
        self.size = 0


class Conversation:
    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        self.channel, self.theirs = Channel(ours), Channel(theirs)
        self.judge = Judge("cpu")
        self.buffers = FileBuffers()
        made = iter([self.buffers, FileBuffers(), FileBuffers()])
        self.judge._pool = SharedBuffersPool(lambda: next(made), KEPT)  # type: ignore[arg-type, return-value]

    def ask(self, header: dict[str, Any], fds: Sequence[int] = ()) -> Frame:
        self.judge.answer(self.theirs, Frame(header, b"", list(fds)))
        return answer_of(self.channel)

    def prepare(self, folder: Path, job: str, rows: int = 4, **more: Any) -> Frame:
        cases = [
            {
                "id": name,
                "axes": {"rows": rows, "cols": 3},
                "dtype": "float32",
                "distribution": "normal",
            }
            for name in ("first", "second")
        ]
        return self.ask(
            {
                "type": "prepare",
                "job": job,
                "operator_dir": str(folder),
                "device": "cpu",
                "cases": cases,
                **more,
            }
        )

    def view(self, wire: dict[str, Any], offset: int) -> torch.Tensor:
        flat = self.buffers.memory[offset:].view(getattr(torch, wire["dtype"]))
        return torch.as_strided(flat, wire["shape"], wire["strides"])

    def inputs(self, case: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns x and index as views of the shared memory."""
        places = {one["name"]: one["offset"] for one in case["device"]["inputs"]}
        return self.view(case["arguments"][1], places["x"]), self.view(
            case["arguments"][2], places["index"]
        )

    def answer(self, case: dict[str, Any], factor: float) -> list[dict[str, Any]]:
        """Writes axpy's outputs one after the other, as a launcher does. Returns their
        descriptors."""
        x, index = self.inputs(case)
        at = case["device"]["output_offset"]
        wires = [
            {
                "name": "output_0",
                "dtype": "float32",
                "shape": list(x.shape),
                "strides": [x.shape[1], 1],
                "offset": 0,
            },
            {
                "name": "output_1",
                "dtype": "int32",
                "shape": list(index.shape),
                "strides": [1],
                "offset": 4096,
            },
        ]
        self.view(wires[0], at).copy_(factor * x)
        self.view(wires[1], at + 4096).copy_(index + 1)
        return wires

    def compare(self, job: str, case: str, wires: list[dict[str, Any]]) -> dict[str, Any]:
        return self.ask(
            {"type": "compare", "job": job, "case": case, "outputs": wires, "on_device": True}
        ).header


@pytest.fixture
def talk() -> Conversation:
    return Conversation()


def test_the_layouts_are_those_of_the_driver() -> None:
    assert ctypes.sizeof(Properties) == 32
    assert Properties.location.offset == 8
    assert ctypes.sizeof(Access) == 12


def test_pieces_are_aligned_and_do_not_overlap() -> None:
    assert place([1, 256, 300, 0], 256) == ([0, 256, 512, 1024], 1024)


def test_inputs_and_outputs_go_through_the_shared_buffers(
    talk: Conversation, tmp_path: Path
) -> None:
    reply = talk.prepare(write_operator(tmp_path / "op"), "job_1")
    assert reply.header["device"] == {"fd": 2, "bytes": talk.buffers.size}
    assert len(reply.fds) == 3
    first, second = reply.header["cases"]
    # The memory file contains only the bytes of structural arguments.
    assert "fd" in first["arguments"][2] and "fd" not in first["arguments"][1]
    ranges = sorted(
        (one["offset"], one["offset"] + wire["nbytes"])
        for case in (first, second)
        for one, wire in zip(case["device"]["inputs"], case["arguments"][1:], strict=True)
    )
    ranges += [
        (case["device"]["output_offset"], case["device"]["output_offset"] + case["output_bytes"])
        for case in (first, second)
    ]
    ranges.sort()
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ranges))
    assert ranges[-1][1] <= talk.buffers.size
    poisoned = talk.buffers.memory[first["device"]["output_offset"] :][: first["output_bytes"]]
    untouched = torch.empty_like(poisoned)
    fill_poison(untouched)
    assert torch.equal(poisoned, untouched)

    assert talk.compare("job_1", "first", talk.answer(first, 2.0))["kind"] == "none"
    assert talk.compare("job_1", "second", talk.answer(second, 2.5))["kind"] == "wrong_result"
    outside = [
        {**wire, "offset": wire["offset"] + first["output_bytes"]}
        for wire in talk.answer(first, 2.0)
    ]
    assert talk.compare("job_1", "first", outside)["kind"] == "output_mismatch"


def test_kept_outputs_are_compared_with_those_of_the_run_without_kernels(
    talk: Conversation, tmp_path: Path
) -> None:
    first = talk.prepare(write_operator(tmp_path / "op"), "job_1").header["cases"][0]
    question = {"type": "attribute", "job": "job_1", "case": "first", "on_device": True}
    for factor, ok in ((1.0, True), (2.0, False)):
        wires = talk.answer(first, 2.0)
        request = {
            "type": "compare",
            "job": "job_1",
            "case": "first",
            "outputs": wires,
            "on_device": True,
            "keep": True,
        }
        assert talk.ask(request).header["kind"] == "none"
        without = talk.answer(first, factor)  # at the same offsets
        talk.view(wires[1], first["device"]["output_offset"] + 4096).fill_(-1 if ok else 7)
        reply = talk.ask({**question, "without": without}).header
        assert (reply["type"], reply["ok"]) == ("attributed", ok), reply
    assert (
        talk.ask({"type": "attribute", "job": "job_1", "case": "first", "on_device": True}).type
        == "judge_error"
    )


def test_outputs_of_a_wrong_shape_are_not_kept(talk: Conversation, tmp_path: Path) -> None:
    """With strides of 0, a few bytes are a tensor that no memory can hold."""
    first = talk.prepare(write_operator(tmp_path / "op"), "job_1").header["cases"][0]
    wires = talk.answer(first, 2.0)
    wires[0] = {**wires[0], "shape": [2**39, 2], "strides": [0, 0]}
    request = {"job": "job_1", "case": "first", "outputs": wires, "on_device": True, "keep": True}
    reply = talk.ask({"type": "compare", **request}).header
    assert (reply["type"], reply.get("kind")) == ("compared", "output_mismatch")


def test_each_job_has_shared_buffers_of_its_own_until_it_is_released(
    talk: Conversation, tmp_path: Path
) -> None:
    folder = write_operator(tmp_path / "op")
    earlier = talk.prepare(folder, "job_1").header["cases"][0]
    wires = talk.answer(earlier, 2.0)
    later = talk.prepare(folder, "job_2", rows=400)
    assert talk.compare("job_1", "first", wires)["kind"] == "none"
    assert later.header["device"]["bytes"] != talk.buffers.size
    talk.judge.answer(talk.theirs, Frame({"type": "release", "job": "job_1"}, b"", []))
    # The buffers of the first job are reused.
    assert talk.prepare(folder, "job_3").header["device"]["bytes"] == talk.buffers.size
    late = talk.compare("job_1", "first", wires)
    assert late["type"] == "judge_error"


def test_a_refreshed_case_has_new_inputs_and_is_judged_by_them(
    talk: Conversation, tmp_path: Path
) -> None:
    free = write_operator(
        tmp_path / "free", spec=SPEC.replace('role = "structural"', 'role = "input"')
    )
    case = talk.prepare(free, "job_1").header["cases"][0]
    before = talk.answer(case, 2.0)
    assert talk.compare("job_1", "first", before)["float64_error"] is not None
    refreshed = talk.ask({"type": "refresh", "job": "job_1", "case": "first"}).header
    assert refreshed["seed"] not in ("", case["seed"])
    # `before` contains outputs for the old inputs, so it is wrong for the new inputs.
    assert talk.compare("job_1", "first", before)["kind"] == "wrong_result"
    again = talk.compare("job_1", "first", talk.answer(case, 2.0))
    # The strict rule is applied only to the first inputs.
    assert (again["kind"], again["float64_error"]) == (
        "none",
        None,
    )


@pytest.mark.parametrize("imported", [False, True])
def test_structural_inputs_stay_beside_new_ones(
    talk: Conversation, tmp_path: Path, imported: bool
) -> None:
    """Structural inputs are not replaced, because the recording depends on them. In an imported
    operator, the other inputs may depend on the structural inputs, so they are not replaced
    either."""
    folder = write_operator(
        tmp_path / "bound", spec="imported = true\n" + SPEC if imported else SPEC
    )
    case = talk.prepare(folder, "job_1").header["cases"][0]
    x, index = talk.inputs(case)
    old_x, old_index = x.clone(), index.clone()
    seed = talk.ask({"type": "refresh", "job": "job_1", "case": "first"}).header["seed"]
    assert (seed == "") == imported
    assert torch.equal(index, old_index)
    assert torch.equal(x, old_x) == imported
    assert talk.compare("job_1", "first", talk.answer(case, 2.0))["kind"] == "none"


def test_shared_buffers_are_kept_up_to_a_bound() -> None:
    pool = SharedBuffersPool(FileBuffers, 3000)  # type: ignore[arg-type]
    first, second, third = (pool.take() for _ in range(3))
    freed = []
    for one in (first, second, third):
        one.room(1400)
        freed.append(pool.give(one))
    assert freed == [0, 0, 1400]
    assert [one.size for one in (first, second, third)] == [1400, 1400, 0]
    assert pool.take() is second and pool.size == 2800
    pool.free_unused()  # the second buffers belong to a job
    assert [one.size for one in (first, second)] == [0, 1400] and pool.size == 1400


@pytest.mark.parametrize("free", [False, True])
def test_rounds_of_the_host_tier_need_no_references_and_no_shared_buffers(
    tmp_path: Path, free: bool
) -> None:
    talk = Conversation()
    talk.prepare(write_operator(tmp_path / "op", spec="imported = true\n" + SPEC), "job_1")
    states = list(talk.judge._jobs["job_1"].values())
    states[0].compute_references()
    talk.judge._free_for_rounds("job_1", free)
    assert not any(state in talk.judge._ahead for state in states)
    assert [state._expected for state in states] == [None] * len(states)
    assert ("job_1" in talk.judge._owned) == (not free)
    assert (states[0]._output is None) == free
    assert states[0].refresh() == ""  # its structural inputs stay, with and without memory
    talk.judge._free_for_rounds("job_1", free)  # as for the next case


def test_shared_buffers_that_are_freed_are_no_longer_memory_of_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """If they were, a candidate could take their memory and would not be charged for it."""
    talk = Conversation()
    judge, made = talk.judge, [FileBuffers() for _ in range(4)]
    left = iter(made)
    judge._pool = SharedBuffersPool(lambda: next(left), 0)  # type: ignore[arg-type, return-value]
    contexts, total = 1000, 1 << 20

    def mem_get_info(_: object) -> tuple[int, int]:
        return total - contexts - sum(one.size for one in made), total

    monkeypatch.setattr(torch.cuda, "mem_get_info", mem_get_info)
    for name in ("memory_reserved", "memory_allocated"):
        monkeypatch.setattr(torch.cuda, name, lambda _: 0)
    memory = types.SimpleNamespace(total_memory=total)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: memory)
    room = judge._room
    room._device = torch.device("cuda:0")
    folder = write_operator(tmp_path / "op")

    def told(job: str) -> tuple[int, int]:
        return room.before(job), room.wire(job)["others_before_bytes"]

    talk.prepare(folder, "job_1")
    first = made[0].size
    assert first > 0 and told("job_1") == (contexts + first, contexts + first)
    talk.prepare(folder, "job_2", rows=400)
    second = made[1].size
    both = contexts + first + second
    assert told("job_2") == (both, both)
    # The buffers of the second job are the judge's, too, although they were made after the note.
    judge._free_for_rounds("job_1", False)
    assert told("job_1") == (both, contexts + first)
    judge._free_for_rounds("job_1", True)
    assert told("job_1") == (contexts + second, contexts)
    # Those of the first job left the candidate of the second job less room for a while.
    assert told("job_2") == (contexts + second, both)
    # While nothing else has memory, others have as much as before the candidate started.
    assert taken_by_others(room._device) == room.before("job_1") == room.before("job_2")
    judge._release(Frame({"type": "release", "job": "job_2"}))
    assert told("job_2") == (0, 0) and told("job_1") == (contexts, contexts)
    # Buffers that no job has are freed if a job lacks memory. Until then they were there.
    judge._pool._kept = total
    talk.prepare(folder, "job_3")
    judge._release(Frame({"type": "release", "job": "job_3"}))
    room.note("job_4")
    assert told("job_4") == (contexts + first, contexts + first)
    judge._free_memory(Frame({"type": "free_memory", "job": "job_4"}))
    assert told("job_4") == (contexts, contexts + first)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a driver")
def test_without_a_driver_the_error_says_so() -> None:
    with pytest.raises((DeviceMemoryError, RuntimeError, AssertionError)):
        SharedBuffers(torch.device("cuda:0"))
