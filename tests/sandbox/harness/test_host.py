"""Tests the rounds of the tier `host` between a judge and a candidate. Memory files take the place
of GPU memory. A right submission must pass, and attempts to cheat the clock must be found."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from harness.entry.errors import BadOutputs
from harness.judging import host_rounds
from harness.judging.host_rounds import HostCase, HostResult
from harness.wire import shared_memory
from harness.wire.rounds import CandidateLine, Go, RoundError, SetLayout, lay_out
from harness.wire.tensors import Memory, contiguous
from host_talk import Entry, Talk, axpy


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return Talk(tmp_path)


def test_a_right_submission_passes_and_is_not_timed_unless_asked(talk: Talk) -> None:
    seen = talk.serve(axpy)
    assert seen.result.ok, seen.result.reason
    assert seen.samples_ns == []
    assert talk.error is None


def test_each_timed_round_has_many_sets_of_its_own(talk: Talk) -> None:
    inputs: list[float] = []

    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        inputs.append(float(x[0, 0]))
        return axpy(a, x, index)

    seen = talk.serve(entry, timed=True)
    assert seen.result.ok, seen.result.reason
    assert len(seen.samples_ns) == host_rounds.TIMED_ROUNDS
    assert min(seen.samples_ns) > 0
    assert len(inputs) == 1 + host_rounds.TIMED_ROUNDS * host_rounds.MAX_SETS
    assert len(set(inputs)) == len(inputs)


def test_a_wrong_value_is_a_wrong_result(talk: Talk) -> None:
    seen = talk.serve(lambda a, x, index: axpy(a, x, index) + 1)
    assert seen.result.kind == "wrong_result"


def test_wrong_only_when_timed_is_wrong(talk: Talk) -> None:
    calls: list[int] = []

    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return axpy(a if len(calls) == 1 else 0.0, x, index)

    seen = talk.serve(entry, timed=True)
    assert seen.result.kind == "wrong_result"
    assert "when it was timed" in seen.result.reason


def test_a_cached_output_is_wrong_for_new_inputs(talk: Talk) -> None:
    known: list[Any] = []

    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        if not known:
            known.append((axpy(a, x, index), x.clone()))
        x.copy_(known[0][1])
        return known[0][0]  # type: ignore[no-any-return]

    assert talk.serve(entry, timed=True).result.kind == "wrong_result"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (lambda a, x, index: (x, index), "returned 2 values"),
        (lambda a, x, index: index.double(), "want int32"),
        (lambda a, x, index: index[:1], "want int32 [64]"),
        (lambda a, x, index: None, "NoneType"),
    ],
)
def test_outputs_of_the_wrong_form_end_the_candidate(talk: Talk, entry: Entry, words: str) -> None:
    with pytest.raises(RoundError, match="ended"):
        talk.serve(entry)
    assert isinstance(talk.error, BadOutputs)
    assert words in str(talk.error)


def by_hand(talk: Talk, before: Callable[[Callable[[], None]], None]) -> None:
    """Acts as a candidate. `before` is called with a function that writes the right outputs. The
    candidate reports completion when `before` returns."""
    line = CandidateLine(talk.theirs)
    layout = lay_out(talk.case.arguments, talk.case.output_tensors)
    while (received := line.wait()) is not None:
        memory = Memory(
            shared_memory.attach(torch.device("cpu"), received[1], received[0].size).bytes
        )
        before(lambda memory=memory: write(memory, layout, talk))  # type: ignore[misc]
        line.done()


def write(memory: Memory, layout: SetLayout, talk: Talk) -> None:
    wires = {wire["name"]: wire for wire in talk.case.arguments}
    x, index = (
        memory.tensor({**wires[name], "offset": layout.inputs[name]}) for name in ("x", "index")
    )
    count = layout.outputs[1]
    assert layout.outputs[0] is None and count is not None
    memory.tensor(contiguous(talk.case.output_tensors[1], count)).copy_(
        axpy(wires["a"]["value"], x, index)
    )


def test_outputs_written_in_time_are_right(talk: Talk) -> None:
    seen = talk.run(lambda: by_hand(talk, lambda act: act()))
    assert seen.result.ok, seen.result.reason


CLOCK_STOPS, ALL_IS_READ = 2, 3  # numbers of the judge's synchronizations in a round


def written_late(talk: Talk, monkeypatch: pytest.MonkeyPatch, moment: int) -> HostResult:
    """Runs a candidate that reports completion first. The right outputs are written when the judge
    synchronizes for the `moment`th time, which is after the report."""
    late: list[Callable[[], None]] = []
    synchronized: list[int] = []

    def synchronize(_: HostCase) -> None:
        synchronized.append(1)
        if len(synchronized) == moment:
            late[0]()

    monkeypatch.setattr(HostCase, "_synchronize", synchronize)
    seen = talk.run(lambda: by_hand(talk, late.append))
    assert len(synchronized) == ALL_IS_READ
    return seen


def test_outputs_written_after_they_were_read_do_not_count(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written_late(talk, monkeypatch, ALL_IS_READ).result.kind == "wrong_result"


def test_outputs_that_change_after_the_clock_has_stopped_are_named(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checks that outputs are rejected if they become right after the clock has stopped. The bytes
    that were read when the clock stopped differ from the bytes that are read a moment later."""
    assert "still changed" in written_late(talk, monkeypatch, CLOCK_STOPS).result.reason


def test_a_candidate_that_does_not_answer_is_late(talk: Talk) -> None:
    def waits_for_the_judge_to_hang_up() -> None:
        while talk.theirs.recv(1024):
            continue

    with pytest.raises(RoundError, match="in time"):
        talk.run(waits_for_the_judge_to_hang_up, round_s=0.2)


def test_an_answer_before_the_round_is_refused(talk: Talk) -> None:
    talk.theirs.sendall(b"D")
    with pytest.raises(RoundError, match="had not begun"):
        HostCase(talk.state, talk.line, 1.0).judge(False)


def out_of_memory(*_: Any) -> None:
    raise torch.cuda.OutOfMemoryError("CUDA out of memory")


def test_a_candidate_that_takes_the_gpus_memory_is_reported(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test imitates a candidate that allocates memory by calls of the driver. torch's limit
    does not apply to such calls, so the judge has no memory left for a round."""
    monkeypatch.setattr(shared_memory, "create", out_of_memory)
    monkeypatch.setattr(host_rounds, "taken_by_others", lambda _: 130 << 30)
    with pytest.raises(
        RoundError, match="about 130 GiB of the GPU's memory, and may have 32"
    ) as broken:
        HostCase(talk.state, talk.line, 1.0, 32 << 30).judge(False)
    assert broken.value.how == "memory"
    assert broken.value.others_bytes == 130 << 30  # the supervisor looks again later


def test_a_lack_of_memory_without_a_culprit_is_the_judges_error(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_memory, "create", out_of_memory)
    monkeypatch.setattr(host_rounds, "taken_by_others", lambda _: 33 << 30)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        HostCase(talk.state, talk.line, 1.0, 32 << 30).judge(False)


def test_memory_that_others_had_before_is_not_the_candidates(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server on the same GPU may hold much memory."""
    monkeypatch.setattr(shared_memory, "create", out_of_memory)
    monkeypatch.setattr(host_rounds, "taken_by_others", lambda _: 137 << 30)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        HostCase(talk.state, talk.line, 1.0, 32 << 30, taken_before=130 << 30).judge(False)
    with pytest.raises(RoundError, match="about 47 GiB") as broken:
        HostCase(talk.state, talk.line, 1.0, 32 << 30, taken_before=90 << 30).judge(False)
    assert broken.value.how == "memory"


def test_two_answers_to_one_round_are_refused(talk: Talk) -> None:
    def twice() -> None:
        CandidateLine(talk.theirs).wait()
        talk.theirs.sendall(b"DD")

    with pytest.raises(RoundError, match="protocol"):
        talk.run(twice)


def test_a_rounds_memory_cannot_be_resized() -> None:
    memory = shared_memory.create(torch.device("cpu"), 8192)
    theirs = shared_memory.attach(torch.device("cpu"), memory.handle(), memory.size)
    theirs.bytes[5] = 7
    assert int(memory.bytes[5]) == 7
    fd = memory.handle()
    for size in (0, 1 << 20):
        with pytest.raises(PermissionError):
            os.ftruncate(fd, size)
    os.close(fd)
    theirs.free()
    memory.free()


def test_go_carries_the_memory_across(talk: Talk) -> None:
    memory = shared_memory.create(torch.device("cpu"), 100)
    handle = memory.handle()
    talk.line.go(Go(3, 100), handle)
    os.close(handle)
    received = CandidateLine(talk.theirs).wait()
    assert received is not None
    assert received[0] == Go(3, 100)
    assert os.fstat(received[1]).st_size == 100
    os.close(received[1])
    talk.line.finish()
    assert CandidateLine(talk.theirs).wait() is None
