"""Tests the rounds of the tier `host` between a judge and a candidate. Memory files take the place
of GPU memory. A right submission must pass, and attempts to cheat the clock must be found."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from harness.candidate.host import HostRunner
from harness.candidate.origins import Origins
from harness.candidate.shadows import Shadows
from harness.entry.cases import CaseInput
from harness.entry.errors import BadOutputs
from harness.judging import host_rounds
from harness.judging.case_state import CaseState
from harness.judging.host_rounds import HostCase, HostResult
from harness.operator import Operator
from harness.wire import shared_memory
from harness.wire.rounds import CandidateLine, Go, JudgeLine, RoundError, SetLayout, lay_out
from harness.wire.tensors import Memory, contiguous
from judge_client import REFERENCE, SPEC, write_operator
from torch.utils._python_dispatch import _disable_current_modes

Entry = Callable[..., Any]


def axpy(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """The operator of these tests. Its outputs are an inout argument with gaps between its rows,
    and the returned tensor."""
    x.mul_(a)
    return index + 1


class Talk:
    """A judge's case and a candidate's runner, connected by a socket. The candidate is a thread."""

    def __init__(self, folder: Path, spec: str = SPEC, reference: str = REFERENCE) -> None:
        operator = Operator.load(write_operator(folder / "op", spec, reference))
        wire = {
            "id": "one",
            "axes": {"rows": 64, "cols": 8},
            "dtype": "float32",
            "distribution": "normal",
        }
        self.state = CaseState(operator, operator.case(wire, "cpu"))
        entry = self.state.description()
        outputs = entry["outputs"]
        self.case = CaseInput(
            {
                **entry,
                "outputs": len(outputs),
                "output_from": [o["from"] for o in outputs],
                "output_tensors": outputs,
            },
            [],
        )
        ours, theirs = socket.socketpair()
        self.theirs = theirs
        self.line = JudgeLine(ours)
        self.error: BaseException | None = None
        self.shadows: Shadows | None = None
        self.origins: Origins | None = None

    def runner(self) -> HostRunner:
        # __new__() makes the object without a call of __init__(), which would load the interpreter
        # and so patch torch for the whole process.
        runner = HostRunner.__new__(HostRunner)
        runner._line = CandidateLine(self.theirs)
        runner._device = torch.device("cpu")
        runner._shadows = self.shadows
        runner._origins = None if self.shadows is None else Origins(self.shadows)
        self.origins = runner._origins
        runner.context = self.context  # type: ignore[method-assign]
        return runner

    @contextlib.contextmanager
    def context(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            if self.shadows is not None and self.origins is not None:
                stack.enter_context(self.shadows.watching())
                stack.enter_context(self.origins.watching())
            yield

    def run(
        self,
        act: Callable[[], Any],
        timed: bool = False,
        round_s: float = 10.0,
        attribute: bool = False,
    ) -> HostResult:
        def candidate() -> None:
            try:
                act()
            except BaseException as error:
                self.error = error
            finally:
                self.theirs.close()

        thread = threading.Thread(target=candidate)
        thread.start()
        try:
            case = HostCase(self.state, self.line, round_s)
            return case.attribute() if attribute else case.judge(timed)
        finally:
            with self.line:
                pass
            thread.join()

    def serve(self, entry: Entry, timed: bool = False) -> HostResult:
        return self.run(lambda: self.runner().run_case(self.case, entry), timed)

    def origin(self, entry: Entry) -> HostResult:
        """Runs the entry once with shadows. The entry calls kernel() to act as a kernel."""
        self.shadows = Shadows()
        act = self.runner().run_case
        return self.run(lambda: act(self.case, entry), attribute=True)

    def kernel(self, act: Callable[..., None], *tensors: torch.Tensor) -> None:
        """Does what a launch does: changes tensors without torch's dispatcher."""
        assert self.origins is not None
        with self.origins.launch(tensors) as given, _disable_current_modes():
            act(*given)


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


def by_kernels(talk: Talk) -> Entry:
    """Returns an entry whose kernels do the whole work. Its host code looks at their results."""

    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(index)
        talk.kernel(lambda x, index, out: (x.mul_(a), out.copy_(index + 1)), x, index, out)
        assert int(out[0]) == int(index[0]) + 1
        return out

    return entry


def test_outputs_of_kernels_are_attributed_although_host_code_looks_at_them(talk: Talk) -> None:
    seen = talk.origin(by_kernels(talk))
    assert seen.result.ok, seen.result.reason
    assert seen.unattributed == ""


def test_an_output_that_depends_on_arithmetic_by_torch_is_not_attributed(talk: Talk) -> None:
    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        made, out = index + 1, torch.empty_like(index)
        talk.kernel(lambda x: x.mul_(a), x)
        talk.kernel(lambda made, out: out.copy_(made), made, out)
        return out

    seen = talk.origin(entry)
    assert seen.result.ok, seen.result.reason
    assert seen.unattributed.startswith("output count depends on arithmetic by torch")


def test_an_imported_operator_may_let_torch_compute(talk: Talk) -> None:
    talk.state.operator.imported = True

    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        made, out = index + 1, torch.empty_like(index)
        talk.kernel(lambda made, out, x: (out.copy_(made), x.mul_(a)), made, out, x)
        return out

    assert talk.origin(entry).unattributed == ""


def test_an_output_without_a_kernel_is_not_attributed(talk: Talk) -> None:
    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        talk.kernel(lambda x: x.mul_(a), x)
        return index + 1

    seen = talk.origin(entry)
    assert seen.result.ok
    assert "the same, bit for bit" in seen.unattributed
    assert "captured in a CUDA graph" in seen.unattributed


def test_an_inout_argument_without_a_kernel_is_not_attributed(talk: Talk) -> None:
    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(index)
        talk.kernel(lambda index, out: out.copy_(index + 1), index, out)
        x.mul_(a)
        return out

    assert "output x_after is the same" in talk.origin(entry).unattributed


def test_an_entry_that_recognises_the_run_and_returns_something_else_is_wrong(talk: Talk) -> None:
    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        axpy(a, x, index)
        return torch.zeros_like(index)

    seen = talk.origin(entry)
    assert seen.result.kind == "wrong_result"
    assert seen.unattributed == ""


def test_an_entry_that_fails_has_no_result(talk: Talk) -> None:
    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        raise KeyError("no kernel ran")

    with pytest.raises(RoundError, match="ended"):
        talk.origin(entry)


def later(act: Callable[[], None]) -> None:
    threading.Timer(0.2, act).start()


def test_outputs_written_after_done_do_not_count(talk: Talk) -> None:
    assert talk.run(lambda: by_hand(talk, later)).result.kind == "wrong_result"


def test_outputs_that_change_after_the_clock_has_stopped_are_named(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checks that outputs are rejected if they become right after the clock has stopped. The bytes
    that were read when the clock stopped differ from the bytes that are read a moment later."""
    synchronized: list[int] = []

    def slow(_: HostCase) -> None:
        synchronized.append(1)
        if len(synchronized) == 2:  # the watched bytes have been read, the other bytes have not
            time.sleep(0.5)

    monkeypatch.setattr(HostCase, "_synchronize", slow)
    assert "still changed" in talk.run(lambda: by_hand(talk, later)).result.reason


def test_a_candidate_that_does_not_answer_is_late(talk: Talk) -> None:
    with pytest.raises(RoundError, match="in time"):
        talk.run(lambda: time.sleep(1.0), round_s=0.2)


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
