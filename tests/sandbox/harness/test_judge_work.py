"""Tests what the judge does besides judging: it measures times, computes references in advance,
returns memory to the device, reports lost contexts, and describes cases."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import types
from pathlib import Path

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from harness.judging import judge as judge_module
from harness.judging.device_room import DeviceRoom, has_room_for_float64
from harness.operator import NeedsGpu
from harness.wire.frames import Channel, Frame
from judge_client import REFERENCE, SPEC, JudgeClient, prepared_inputs, write_operator

ROOT = Path(__file__).resolve().parents[3]


def test_the_reason_of_an_error_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def reason(device: str) -> object:
        ours, theirs = socket.socketpair()
        judge = judge_module.Judge("cpu")
        judge.device = torch.device(device)
        judge.answer(
            Channel(theirs),
            Frame(
                {"type": "prepare", "job": "j", "operator_dir": str(tmp_path / "none"), "cases": []}
            ),
        )
        reply = Channel(ours).receive()
        assert reply is not None and reply.type == "judge_error"
        return reply.header["reason"]

    monkeypatch.setattr(torch.cuda, "synchronize", lambda _: None)
    assert reason("cuda:0") == "defect"

    def gone(_: torch.device) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(torch.cuda, "synchronize", gone)
    assert reason("cuda:0") == "context_lost"
    assert reason("cpu") == "defect"

    def full(_: object) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(judge_module.Operator, "load", full)
    assert reason("cpu") == "no_memory"

    def on_a_gpu_only(_: object) -> None:
        raise NeedsGpu("its reference is a kernel")

    monkeypatch.setattr(judge_module.Operator, "load", on_a_gpu_only)
    assert reason("cpu") == "needs_gpu"


def test_time_and_release(judge: JudgeClient, operator: Path) -> None:
    judge.prepare(operator).close()
    time_reference = {"type": "time_reference", "job": "job_1", "case": "small", "max_ms": 100}
    timed = judge.ask(time_reference).header
    assert timed["type"] == "timed_reference" and timed["median_ns"] > 0
    judge.channel.send({"type": "release", "job": "job_1"})
    forgotten = judge.ask(time_reference)
    assert (forgotten.type, forgotten.header["reason"]) == ("judge_error", "unknown_job")
    assert judge.ask({"type": "free_memory", "job": "job_1"}).header == {
        "type": "freed",
        "job": "job_1",
        "total_bytes": 0,
        "own_bytes": 0,
        "others_bytes": 0,
        "others_before_bytes": 0,
    }


def test_a_judge_reports_that_it_has_settled(judge: JudgeClient, operator: Path) -> None:
    judge.prepare(operator).close()
    assert judge.ask({"type": "settle", "job": "job_1"}).header == {
        "type": "settled",
        "job": "job_1",
    }


def test_references_are_ready_before_outputs_are_compared(
    judge: JudgeClient, tmp_path: Path
) -> None:
    done = tmp_path / "done"
    body = f"    open({str(done)!r}, 'a').write('x')\n    return a * x, index + 1"
    counted = write_operator(
        tmp_path / "counted", reference=REFERENCE.replace("    return a * x, index + 1", body)
    )
    judge.prepare(counted).close()
    assert judge.ask({"type": "settle", "job": "timed"}).type == "settled"
    request = {"type": "references", "job": "job_1", "case": "small", "timed": False}
    answer = {"type": "referenced", "job": "job_1", "case": "small"}
    assert judge.ask(request).header == answer
    computed = done.stat().st_size
    assert judge.ask(request).header == answer  # the references exist already
    assert done.stat().st_size == computed > 0
    assert judge.ask({**request, "timed": True}).header == answer
    assert done.stat().st_size == computed + 1
    # The job `unknown` has no references, but this answer does not say so. compare() reports the
    # reason.
    assert judge.ask({**request, "job": "unknown"}).type == "referenced"


@pytest.mark.parametrize(("unused", "given_back"), [(32, 0), (33, 1)])
def test_freed_memory_that_others_may_need_is_returned(
    monkeypatch: pytest.MonkeyPatch, operator: Path, unused: int, given_back: int
) -> None:
    """Checks how much unused memory the judge keeps: up to 32 bytes of a device with 1,024
    bytes."""
    calls = []
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 500 + unused)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 500)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda device: types.SimpleNamespace(total_memory=1024)
    )
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (200, 1024))
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: calls.append("empty"))
    judge = judge_module.Judge("cpu")
    judge.device = torch.device("cuda", 0)
    judge._room = DeviceRoom(judge.device)
    case = {
        "id": "small",
        "axes": {"rows": 4, "cols": 3},
        "dtype": "float32",
        "distribution": "normal",
    }
    header = {
        "type": "prepare",
        "job": "job_1",
        "operator_dir": str(operator),
        "device": "cpu",
        "cases": [case],
    }
    _, theirs = ends = socket.socketpair()
    _, fds = judge._prepare(Channel(theirs), Frame(header))
    for end in ends:
        end.close()
    # Of 1,024 bytes, 200 are free and torch has the reserved ones. The rest is of other processes.
    others = 824 - 500 - unused
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (100, 1024))
    freed, _ = judge._free_memory(Frame({"type": "free_memory", "job": "job_1"}))
    assert freed == {
        "type": "freed",
        "job": "job_1",
        "total_bytes": 1024,
        "own_bytes": 500 + unused,
        "others_bytes": others + 100,
        "others_before_bytes": others,
    }
    for fd in fds:
        os.close(fd)
    assert len(calls) == given_back + 1  # once more for `free_memory`
    for shared in (200, 100):
        judge._room.note_round("job_1", shared)  # the memory of a round is free again after it
    assert judge._room.wire("job_1")["own_bytes"] == 500 + unused + 200
    judge._room.forget("job_1")
    assert judge._room.wire("job_1")["own_bytes"] == 500 + unused


def test_a_released_job_gives_its_memory_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A release has no answer, so a lost context is left to the next request."""
    trimmed = []

    def trim(_: DeviceRoom) -> None:
        trimmed.append(True)
        raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(DeviceRoom, "trim", trim)
    own = judge_module.Judge("cpu")
    assert own._release(Frame({"type": "release", "job": "job_1"})) is None
    assert trimmed == [True]


def test_a_judge_of_the_second_gpu_measures_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A CUDA event belongs to torch's current device, so the judge makes its GPU the current
    device. Otherwise events would measure only the time between two calls by the host."""
    current: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "a GPU")
    monkeypatch.setattr(judge_module, "open_shared_buffers", lambda _: None)
    judge_module.Judge("cuda:1")
    judge_module.Judge("cpu")
    assert current == [torch.device("cuda:1")]


def test_a_description_has_only_structural_bytes(judge: JudgeClient, operator: Path) -> None:
    frame = judge.prepare(operator, type="describe", without_inputs=False)
    assert frame.type == "described" and frame.header["cases"][0]["fixed"] is False
    assert list(prepared_inputs(frame)) == ["index"]
    assert "fd" not in frame.header["cases"][0]["arguments"][1]
    frame.close()


def without_structural(folder: Path, inputs: str = "") -> Path:
    """Writes an operator whose arguments are all of role `input`. `inputs` is code at the start of
    its function inputs()."""
    return write_operator(
        folder,
        spec=SPEC.replace('"structural"', '"input"'),
        reference=REFERENCE.replace("    rows, cols", f"{inputs}    rows, cols", 1),
    )


def test_a_description_makes_no_inputs_and_agrees_with_them(
    judge: JudgeClient, tmp_path: Path
) -> None:
    only_shapes = '    assert case.device.type == "meta", "made inputs"\n'
    described = judge.prepare(
        without_structural(tmp_path / "a", only_shapes), type="describe", without_inputs=False
    )
    prepared = judge.prepare(without_structural(tmp_path / "b"))
    (one,), (other,) = described.header["cases"], prepared.header["cases"]
    assert (one["fixed"], other["fixed"]) == (True, False)
    assert prepared_inputs(described) == {}
    for key in ("outputs", "structural", "inout", "axes", "layout", "output_bytes", "cost"):
        assert one[key] == other[key]
    for mine, its in zip(one["arguments"], other["arguments"], strict=True):
        assert {**mine, "fd": 0, "offset": 0} == {**its, "fd": 0, "offset": 0} or mine == its
    described.close()
    prepared.close()


@pytest.mark.parametrize(
    "reads",
    [
        "    float(rng.normal((1,)))\n",
        "    torch.zeros(2) + rng.normal((2,))\n",
        "    import random; random.choice([1]) if rng.normal((2,)).sum() > 0 else 0\n",
    ],
)
def test_a_description_that_needs_values_makes_inputs(
    judge: JudgeClient, tmp_path: Path, reads: str
) -> None:
    folder = without_structural(tmp_path / "a", reads)
    described = judge.prepare(folder, type="describe", without_inputs=False)
    assert described.type == "described" and described.header["cases"][0]["fixed"] is False
    described.close()
    described = judge.prepare(folder, type="describe", without_inputs=True)
    assert described.type == "described" and described.header["cases"] == []


def test_a_case_that_is_too_large_for_float64_is_judged_without_the_strict_rule(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only cases of imported operators may be that large. A lack of memory in any other case is an
    error of the judge, after which the job runs again."""

    def out_of_memory(*_: object) -> None:
        raise torch.cuda.OutOfMemoryError

    monkeypatch.setattr(judge_module.Operator, "in_float64", out_of_memory)
    wire = {"id": "a", "axes": {"rows": 4, "cols": 3}, "dtype": "float32", "distribution": "normal"}
    for spec in ("imported = true" + SPEC, SPEC):
        operator = judge_module.Operator.load(write_operator(tmp_path / spec[:4].strip(), spec))
        state = judge_module.CaseState(operator, operator.case(wire, "cpu"))
        if operator.imported:
            outputs = operator.expected(state.case, state.arguments)
            judged = state.judge(list(outputs))
            assert judged.ok and judged.float64_error is None
        else:
            with pytest.raises(torch.cuda.OutOfMemoryError):
                state.compute_references()


def test_float64_may_take_a_part_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = types.SimpleNamespace(total_memory=1024)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: memory)
    gpu, cpu = torch.device("cuda:0"), torch.device("cpu")
    assert has_room_for_float64(gpu, 16) and not has_room_for_float64(gpu, 17)
    assert has_room_for_float64(cpu, 1 << 40)


def test_a_case_without_room_for_float64_is_not_computed_in_float64(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only a case of an imported operator, because the strict rule is part of the others' checks."""
    asked: list[int] = []

    def has_no_room(_: torch.device, elements: int) -> bool:
        asked.append(elements)
        return False

    monkeypatch.setattr("harness.judging.case_state.has_room_for_float64", has_no_room)
    wire = {"id": "a", "axes": {"rows": 4, "cols": 3}, "dtype": "float32", "distribution": "normal"}
    for spec in ("imported = true" + SPEC, SPEC):
        operator = judge_module.Operator.load(write_operator(tmp_path / spec[:4].strip(), spec))
        state = judge_module.CaseState(operator, operator.case(wire, "cpu"))
        state.compute_references()
        assert (state._float64 is None) == operator.imported
    given = sum(value.numel() for _, value in state.tensors())
    assert asked == [given + sum(x.numel() for x in state._expected or [])]


def test_references_of_a_large_imported_case_are_not_computed_ahead(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wire = {"id": "a", "axes": {"rows": 4, "cols": 3}, "dtype": "float32", "distribution": "normal"}
    ours, theirs = socket.socketpair()
    for spec in ("imported = true" + SPEC, SPEC):
        operator = judge_module.Operator.load(write_operator(tmp_path / spec[:4].strip(), spec))
        for limit in (0, 1 << 30):
            monkeypatch.setattr("harness.judging.case_state.AHEAD_BYTES", limit)
            judge = judge_module.Judge("cpu")
            state = judge_module.CaseState(operator, operator.case(wire, "cpu"))
            judge._ahead.append(state)
            Channel(ours).send({"type": "settle", "job": "j"})
            # With a frame waiting, nothing is computed. So the frame comes when all is done.
            monkeypatch.setattr(Channel, "has_more", lambda _, ahead=judge._ahead: not ahead)
            judge.next_frame(Channel(theirs))
            assert (state._expected is None) == (operator.imported and limit == 0)


def test_the_memory_of_rounds_is_bounded() -> None:
    """Measures a judge with a large case (measurements/suites/judge_memory.py). Per byte of inputs
    and outputs, it once had 7.6 bytes on the host tier, so cases of 12 GiB left a GPU no memory
    for a submission."""
    script = ROOT / "measurements/suites/judge_memory.py"
    command = [sys.executable, str(script), "--mib", "256", "--step"]
    for step, most in (("round", 5.8), ("round_without_float64", 4.2), ("plan", 5.2)):
        done = subprocess.run([*command, step], check=True, capture_output=True, text=True)
        assert json.loads(done.stdout)["peak_per_case_byte"] <= most, done.stdout


def test_an_output_that_is_an_argument_has_memory_for_its_gaps(tmp_path: Path) -> None:
    gaps = REFERENCE.replace(
        "rng.normal((2 * cols, rows), case.dtype).t()",
        "rng.normal((rows, 4 * cols), case.dtype)[:, : 2 * cols]",
    )
    wire = {"id": "a", "dtype": "float32", "distribution": "normal"}
    wire["axes"] = {"rows": 1000, "cols": 1000}  # type: ignore[assignment]
    sizes = []
    for reference in (REFERENCE, gaps):
        folder = write_operator(tmp_path / str(len(sizes)), SPEC, reference)
        operator = judge_module.Operator.load(folder)
        sizes.append(judge_module.CaseState(operator, operator.case(wire, "cpu")).output_bytes())
    assert sizes[1] - sizes[0] >= 4 * (999 * 4000 + 2000) - 4 * 1000 * 2000 - (1 << 16)
