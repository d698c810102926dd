"""The judge owns the seeds, the inputs and the references. Only the judge decides whether outputs
are right. It never runs a submission.

It answers one request at a time over one socket (docs/reference/frames.md). If an operator's own
code raises an exception, the answer is `judge_error`, and the judge continues to work. If outputs
are not inside their memfd, the result is `output_mismatch`."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import socket
import traceback
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from harness.entry import late_dynamo
from harness.imported.golden_speed import fastest_kernels
from harness.judging.case_state import CaseState
from harness.judging.compare import Result
from harness.judging.compiled_reference import time_compiled
from harness.judging.device_room import DeviceRoom
from harness.judging.failures import UnknownJob, reason_of
from harness.judging.host_rounds import HostCase, timing
from harness.judging.lint import lint
from harness.judging.reference_times import times_ns
from harness.judging.replies import Reply, about, begun
from harness.judging.shared_buffers import (
    SharedBuffers,
    fill,
    is_on_device,
    open_shared_buffers,
    prepare,
)
from harness.judging.timed_rounds import draw_ahead, forget_drawn, judge_aside, set_aside
from harness.judging.torch_device import prepare_torch, torch_device
from harness.operator import Operator
from harness.wire.frames import Channel, Frame, FrameError
from harness.wire.rounds import JudgeLine, RoundError
from harness.wire.tensors import DescriptorError

# Without this call, the judge would import torch._dynamo when it describes its first case, and the
# import takes two seconds.
late_dynamo.install(or_load=False)

REASON_CHARS = 2000  # the maximum length of an error message that quotes untrusted text


def serve(socket_fd: int, device: str) -> None:
    """Answers requests until the supervisor closes the socket. May then raise a ConnectionError."""
    faulthandler.enable()  # the log then says where a reference ended the process
    serve_on(Channel.from_fd(socket_fd), device)


def serve_on(channel: Channel, device: str) -> None:
    judge = Judge(device)
    channel.send({"type": "ready", "torch": torch.__version__, "device_name": judge.device_name})
    while (frame := judge.next_frame(channel)) is not None:
        judge.answer(channel, frame)


class Judge:
    """The judge of one device. `answer` handles one request (see the module's docstring)."""

    def __init__(self, device: str) -> None:
        self.device = torch_device(device)
        prepare_torch(self.device)
        self.device_name = (
            torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "cpu"
        )
        self._operators: dict[Path, tuple[tuple[int, ...], Operator]] = {}
        self._jobs: dict[str, dict[str, CaseState]] = {}
        self._room = DeviceRoom(self.device, lambda: self._pool.size if self._pool else 0)
        # Cases whose references are not yet computed. The computation pauses while a job is timed.
        self._ahead: deque[CaseState] = deque()
        self._settled = False
        self._pool = open_shared_buffers(self.device)
        self._owned: dict[str, SharedBuffers] = {}  # the shared buffers of each job

    def next_frame(self, channel: Channel) -> Frame | None:
        """Waits for the next frame. While no frame has come, computes references, one case at a
        time. So a request waits at most until the references of one case are computed. If a
        computation fails, the error is reported when that case is compared."""
        while self._ahead and not self._settled and not channel.has_more():
            with contextlib.suppress(Exception):
                self._ahead.popleft().compute_ahead()
        return channel.receive()

    def answer(self, channel: Channel, frame: Frame) -> None:
        job = frame.header.get("job")
        handlers: dict[str, Callable[[Frame], Reply | None]] = {
            "describe": partial(self._describe, channel),
            "prepare": partial(self._prepare, channel),
            "compare": self._compare,
            "attribute": self._attribute,
            "refresh": self._refresh,
            "set_aside": self._set_aside,
            "compare_aside": self._compare_aside,
            "references": self._references,
            "settle": self._settle,
            "free_memory": self._free_memory,
            "time_reference": self._time_reference,
            "time_compiled": self._time_compiled,
            "host_case": self._host_case,
            "release": self._release,
            "lint": self._lint,
        }
        try:
            if frame.type not in handlers:
                raise FrameError(
                    f"unknown request {frame.type!r}; want one of {', '.join(handlers)}"
                )
            reply = handlers[frame.type](frame)
        except Exception as error:
            traceback.print_exc()
            reply = {"type": "judge_error", "job": job, **self.failure(error)}, []
        finally:
            frame.close()
        if reply is None:
            return
        header, fds = reply
        try:
            channel.send(header, fds=fds)
        except (FrameError, ValueError) as error:
            # The answer cannot be encoded, so nothing of it was sent.
            traceback.print_exc()
            channel.send({"type": "judge_error", "job": job, **self.failure(error)})
            return
        finally:
            for fd in fds:
                os.close(fd)
        if header["type"] == "prepared":
            self._ahead.extend(self._jobs[str(job)].values())
            self._settled = False

    def failure(self, error: Exception) -> dict[str, str]:
        """Returns `message` and `reason` of a `judge_error` (docs/reference/frames.md)."""
        return {
            "message": f"{type(error).__name__}: {error}"[:REASON_CHARS],
            "reason": reason_of(error, self.device),
        }

    def _operator(self, folder: str) -> Operator:
        """Returns the operator in this folder. Loads it if it is not loaded, or if its files have
        changed."""
        path = Path(folder).resolve()
        files = [path / name for name in ("spec.toml", "reference.py")]
        stamp = tuple(file.stat().st_mtime_ns for file in files if file.exists())
        if path not in self._operators or self._operators[path][0] != stamp:
            self._operators[path] = stamp, Operator.load(path)
        return self._operators[path][1]

    def _describe(self, channel: Channel, frame: Frame) -> Reply:
        """Describes the cases in the form in which `prepare` describes them. Creates inputs only
        for a case whose description depends on them. If there is such a case and `without_inputs`
        is set, the reply has no cases."""
        header = frame.header
        operator = self._operator(header["operator_dir"])
        reply: dict[str, Any] = {"type": "described", "job": header["job"], "cases": []}
        fds: list[int] = []
        states = []
        for wire in header["cases"]:
            channel.send(begun(header, wire))
            case = operator.case(wire, str(self.device))
            shapes = operator.shapes(case)
            if shapes is None and header["without_inputs"]:
                return reply, []
            states.append(CaseState(operator, case, shapes))
        try:
            for position, state in enumerate(states):
                fd, entry = state.prepared(structural_only=True, position=position)
                fds.append(fd)
                reply["cases"].append(entry)
        except BaseException:
            for fd in fds:
                os.close(fd)
            raise
        return reply, fds

    def _prepare(self, channel: Channel, frame: Frame) -> Reply:
        header = frame.header
        operator = self._operator(header["operator_dir"])
        device = str(header.get("device") or self.device)
        fds: list[int] = []
        reply: dict[str, Any] = {"type": "prepared", "job": header["job"]}
        self._room.trim()
        self._release_buffers(str(header["job"]))
        states = []
        for wire in header["cases"]:
            channel.send(begun(header, wire))
            case = operator.case(wire, device)
            states.append(CaseState(operator, case, seed_text=str(header.get("seed", ""))))
        on_device = [self._pool is not None and is_on_device(state, header) for state in states]
        shared = self._pool.take() if self._pool is not None and any(on_device) else None
        if shared is not None:
            self._owned[str(header["job"])] = shared
        try:
            apart = self._pool is not None or self.device.type != "cpu"
            reply["cases"] = prepare(states, on_device, apart, fds)
            if shared is not None:
                fill(shared, states, on_device, reply["cases"])
                reply["device"] = {"fd": len(fds), "bytes": shared.size}
                fds.append(shared.handle())
        except BaseException:
            for fd in fds:
                os.close(fd)
            self._release_buffers(str(header["job"]))
            raise
        self._jobs[str(header["job"])] = {state.case.id: state for state in states}
        self._room.note(str(header["job"]))
        return reply, fds

    def _state(self, header: dict[str, Any]) -> CaseState:
        states = self._jobs.get(str(header.get("job")), {})
        if header.get("case") not in states:
            raise UnknownJob(
                f"job {header.get('job')!r} has no prepared case {header.get('case')!r}"
            )
        return states[header["case"]]

    def _compare(self, frame: Frame) -> Reply:
        header = frame.header
        state = self._state(header)
        on_device = bool(header.get("on_device"))
        if len(frame.fds) != (0 if on_device else 1) or not isinstance(header.get("outputs"), list):
            raise FrameError(
                "compare needs a list of outputs, and one descriptor unless they are on the device"
            )
        fd = None if on_device else frame.fds[0]
        return self._compared(
            header, lambda: state.compare(header["outputs"], fd, keep=bool(header.get("keep")))
        )

    def _compared(self, header: dict[str, Any], compare: Callable[[], Result]) -> Reply:
        try:
            result = compare()
        except DescriptorError as error:
            result = Result(False, "output_mismatch", str(error)[:REASON_CHARS])
        return about("compared", header, **result.wire())

    def _set_aside(self, frame: Frame) -> Reply:
        header = frame.header
        kept = set_aside(self._state(header), header["outputs"], self._jobs[header["job"]].values())
        self._wait_for_device()  # the next launch may write to the memory that is copied
        return about("was_set_aside", header, kept=kept)

    def _compare_aside(self, frame: Frame) -> Reply:
        state = self._state(frame.header)
        return self._compared(frame.header, lambda: judge_aside(state))

    def _host_case(self, frame: Frame) -> Reply:
        """Runs all rounds of one case with a candidate on the GPU. The frame has their socket."""
        header = frame.header
        state = self._state(header)
        if len(frame.fds) != 1:
            raise FrameError("host_case needs one descriptor: the socket to the candidate")
        self._free_for_rounds(str(header["job"]), bool(header["free_buffers"]))
        try:
            with JudgeLine(socket.socket(fileno=os.dup(frame.fds[0]))) as line:
                limits = float(header["round_ms"]) / 1e3, header.get("gpu_memory_bytes")
                note = partial(self._room.note_round, header["job"])
                case = HostCase(state, line, *limits, self._room.before(header["job"]), note)
                seen = case.attribute() if header["attribute"] else case.judge(header["time"])
        except RoundError as error:
            return about(
                "host_judged",
                header,
                broken=error.how,
                message=str(error),
                others_bytes=error.others_bytes,
            )
        return about("host_judged", header, **seen.wire())

    def _free_for_rounds(self, job: str, free_buffers: bool) -> None:
        """Frees what the rounds of the host tier do not need, which have inputs and references of
        their own. `free_buffers` says that no launch of this job follows either."""
        states = list(self._jobs[job].values())
        self._forget_ahead(states)
        for state in states:
            state.forget_references()
        if free_buffers:
            for state in states:
                state.forget_buffers()
            self._release_buffers(job)
        self._room.trim()

    def _forget_ahead(self, states: list[CaseState]) -> None:
        self._ahead = deque(state for state in self._ahead if state not in states)

    def _attribute(self, frame: Frame) -> Reply:
        """Decides whether kernels computed the outputs, which are right. For this, compares them
        with the outputs of the run without kernels."""
        header = frame.header
        state = self._state(header)
        on_device = bool(header.get("on_device"))
        lists = ("without",) if on_device else ("outputs", "without")
        if len(frame.fds) != (0 if on_device else 2) or not all(
            isinstance(header.get(key), list) for key in lists
        ):
            raise FrameError(
                "attribute needs two lists of outputs and a descriptor for each, or on the device the second list"
            )
        try:
            if on_device:
                reason = state.attribute_kept(header["without"])
            else:
                reason = state.attribute(
                    header["outputs"], frame.fds[0], header["without"], frame.fds[1]
                )
        except DescriptorError as error:
            reason = f"the outputs of the run without kernels cannot be read: {error}"[
                :REASON_CHARS
            ]
        return about("attributed", header, ok=not reason, reason=reason)

    def _time_reference(self, frame: Frame) -> Reply:
        header = frame.header
        with fastest_kernels():
            samples = times_ns(self.device, self._state(header).run_reference, header["max_ms"])
        return about("timed_reference", header, **timing(samples))

    def _time_compiled(self, frame: Frame) -> Reply:
        """Times an operator's reference on one case, compiled by torch.compile unless `eager`."""
        operator = self._operator(frame.header["operator_dir"])
        case = operator.case(frame.header["case"], str(self.device))
        reply = {"type": "timed_compiled", "case": case.id}
        with fastest_kernels():
            eager = bool(frame.header.get("eager"))
            return reply | time_compiled(
                operator, case, lambda run: times_ns(self.device, run), eager
            ), []

    def _refresh(self, frame: Frame) -> Reply:
        """Draws new inputs for one case before the case is timed."""
        seed = self._state(frame.header).refresh()
        self._wait_for_device()
        return about("refreshed", frame.header, seed=seed)

    def _references(self, frame: Frame) -> Reply:
        """Computes the references of a case, so that the comparison need not wait for them. If this
        fails, the comparison reports the error. If the case will be timed, the golden kernels are
        tuned too. Draws inputs for the next `rounds` refreshes."""
        header = frame.header
        with contextlib.suppress(Exception):
            state = self._state(header)
            state.compute_references()
            if header["timed"]:
                with fastest_kernels():
                    state.run_reference()
            draw_ahead(state, int(header["rounds"]), self._jobs[header["job"]].values())
        return about("referenced", header)

    def _settle(self, frame: Frame) -> Reply:
        """Waits until all work on the device is finished, because another job will be timed now. No
        references are computed in advance until the next `prepare`."""
        self._settled = True
        self._wait_for_device()
        return {"type": "settled", "job": frame.header["job"]}, []

    def _wait_for_device(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def _free_memory(self, frame: Frame) -> Reply:
        forget_drawn(self._jobs.values())
        if self._pool is not None:
            self._pool.free_unused()
        torch.cuda.empty_cache()  # does nothing in a judge without CUDA
        job = str(frame.header.get("job", ""))
        return {"type": "freed", "job": job, **self._room.wire(job)}, []

    def _release(self, frame: Frame) -> None:
        job = str(frame.header.get("job"))
        self._forget_ahead([*self._jobs.pop(job, {}).values()])
        self._release_buffers(job)
        self._room.forget(job)
        with contextlib.suppress(RuntimeError):  # of a lost context, as the next answer says
            self._room.trim()

    def _release_buffers(self, job: str) -> None:
        buffers = self._owned.pop(job, None)
        if buffers is not None and self._pool is not None:
            self._room.freed(job, self._pool.give(buffers))

    def _lint(self, frame: Frame) -> Reply:
        header = frame.header
        operator = self._operator(header["operator_dir"])
        device = str(header.get("device") or self.device)
        cases = [operator.case(wire, device) for wire in header["cases"]]
        checks = [check.wire() for check in lint(operator, cases, int(header["seed"]))]
        return {"type": "linted", "checks": checks}, []
