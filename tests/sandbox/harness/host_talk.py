"""A judge's case and a candidate's runner of the tier `host`, connected by a socket. Memory files take
the place of GPU memory."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, os.path.dirname(__file__))
from harness.candidate.host import HostRunner
from harness.candidate.origins import Origins
from harness.candidate.shadows import Shadows
from harness.entry.cases import CaseInput
from harness.judging.case_state import CaseState
from harness.judging.host_rounds import HostCase, HostResult
from harness.operator import Operator
from harness.wire.rounds import CandidateLine, JudgeLine
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
        self.candidate: HostRunner | None = None

    def runner(self) -> HostRunner:
        # __new__() makes the object without a call of __init__(), which would load the interpreter
        # and so patch torch for the whole process.
        runner = HostRunner.__new__(HostRunner)
        runner._line = CandidateLine(self.theirs)
        runner._device = torch.device("cpu")
        runner._shadows = self.shadows
        runner._origins = None if self.shadows is None else Origins(self.shadows)
        self.candidate = runner
        runner.context = self.context  # type: ignore[method-assign]
        return runner

    @contextlib.contextmanager
    def context(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            if self.shadows is not None:
                stack.enter_context(self.shadows.watching())
            if self.candidate is not None and self.candidate._origins is not None:
                stack.enter_context(self.candidate._origins.watching())
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
        assert self.candidate is not None
        with self.candidate._launch(tensors) as given, _disable_current_modes():
            act(*given)
