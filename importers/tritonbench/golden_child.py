"""Imports one file of a benchmark inside the jail. The process is a forked child of import_zygote.py; it is
untrusted, because it runs the file.

    status = serve(channel, layers)  # waits for `golden`; answers `step`..., `part`..., `report`

The kind of the file (GoldenFile.kind) decides how it is imported: as a golden file of TritonBench-G,
a function of PyTorch of TritonBench-T (eager_child.py) or a problem of KernelBench.

The child forks a process for each step, because a recorder can be installed only once in a process.
The steps share a folder in /tmp, so a kernel is compiled once. The operators go to the importer as
`part` frames, one for each file of an operator. The child cannot write to the suite."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from benchmark_file import GoldenFile
from checkout import Provenance
from harness.entry.thread_pool import renew_thread_pool
from harness.wire.frames import Channel, Frame, FrameError
from import_child import serve_one

Report = dict[str, Any]
# The kinds of errors after which a file or an operator gets the tier `host`, because the code may
# still work with a GPU inside the jail.
REFUSED = ("not_recordable",)
OUTPUT_CHARS = 8000  # the end of a failed step's output in which the report looks for a reason


def serve(channel: Channel, layers: list[dict[str, Any]]) -> int:
    """Imports the file that the importer sends. Returns the exit status of this process."""
    return serve_one(channel, layers, lambda frame: _import(channel, frame))


def _import(channel: Channel, frame: Frame) -> None:
    importer = _importer(frame.type)
    header = frame.header
    golden = GoldenFile(
        header["name"],
        frame.payload.decode("utf-8"),
        header["description"],
        header["difficulty"],
        Provenance(**header["provenance"]),
        kind=frame.type,
        options=header["options"],
    )
    folder = Path("/tmp") / f"import-{os.getpid()}"
    step_wall_s = int(header["interpret_step_wall_s"])
    importer(channel, golden, header["target"], folder, step_wall_s).run()


def _importer(kind: str) -> type[FileImport]:
    if kind == "golden":
        return _GoldenImport
    if kind == "problem":
        return _ProblemImport
    if kind == "eager":
        from eager_child import EagerImport

        return EagerImport
    raise FrameError(f"expected a file of kind golden, problem or eager, got {kind!r}")


class FileImport:
    """The import of one file."""

    def __init__(
        self,
        channel: Channel,
        golden: GoldenFile,
        target: str,
        folder: Path,
        interpret_step_wall_s: int,
    ) -> None:
        self._interpret_step_wall_s = interpret_step_wall_s
        self._channel = channel
        self._golden = golden
        self._target = target
        self._suite = folder / "suite"
        self._cache = folder / "triton-cache"
        self._file = folder / golden.name
        self._output = folder / "output"
        folder.mkdir()
        self._file.write_text(golden.text, encoding="utf-8")

    def run(self) -> None:
        raise NotImplementedError

    def _send(self, report: Report) -> None:
        """Sends the files of the report's operators, then the report."""
        for operator in report["operators"]:
            for path in sorted((self._suite / "standard" / operator["name"]).iterdir()):
                part = {"type": "part", "operator": operator["name"], "file": path.name}
                self._channel.send(part, path.read_bytes())
        self._channel.send({"type": "report", "report": report})

    def _step(self, name: str, work: Callable[[], Report], wall_s: int = 0) -> Report:
        """Runs `work` in a forked process, and returns its result. If the process ends without a
        result, the report says how it ended. If `wall_s` is not 0, the process ends after this
        time."""
        self._channel.send({"type": "step", "name": name})
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            renew_thread_pool()
            signal.alarm(wall_s)  # its default action ends the process; 0: no alarm
            self._run(writer, work)
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            text = stream.read()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(ValueError):
            return json.loads(text)  # type: ignore[no-any-return]
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        text = self._output.read_bytes()[-OUTPUT_CHARS:].decode("utf-8", "replace")
        said = _shown(text)
        if status == -signal.SIGKILL:
            said = f"the machine may lack memory (use fewer --jobs). {said}".strip()
        return {
            "recorded": False,
            "kind": "crash",
            "message": f"the process of the step `{name}` ended with {how}"
            + f": {said}" * bool(said),
        }

    def _run(self, writer: int, work: Callable[[], Report]) -> None:
        """Runs in the forked process. Never returns."""
        try:
            self._channel.close()
            output = os.open(self._output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.set_inheritable(writer, False)
            torch.manual_seed(0)
            text = json.dumps(work()).encode()
            with os.fdopen(writer, "wb") as stream:
                stream.write(text)
            status = 0
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # a normal exit may crash on objects that a recording leaves


class _GoldenImport(FileImport):
    """The import of a golden file."""

    def run(self) -> None:
        found = self._step("trace", lambda: self._trace(arithmetic=False))
        report: Report = {"tier": "plan", "kind": "", "reason": ""}
        if not found["recorded"]:
            tier = "host" if found["kind"] in REFUSED else "neither"
            report.update(tier=tier, kind=found["kind"], reason=_why(found))
            if tier == "host":
                found = self._step("trace with torch's arithmetic", lambda: self._trace(True))
                report["arithmetic"] = found.get("arithmetic", [])
        report.update(
            calls=found.get("calls", 0),
            left_out=found.get("left_out", []),
            operators=found.get("operators", []),
        )
        if report["operators"]:
            self._record(report["operators"])
            self._interpret(report["operators"])
        self._send(report)

    def _trace(self, arithmetic: bool) -> Report:
        from tritonbench_operator import trace_file

        return trace_file(
            self._golden, self._file, self._suite, self._target, self._cache, arithmetic
        )

    def _record(self, operators: list[Report]) -> None:
        """Adds to each operator the tier of its oracle, and why it is not `plan`."""
        folders = [self._suite / "standard" / operator["name"] for operator in operators]
        recorded = self._recorded(folders)
        for operator in operators:
            again = recorded.get(operator["name"], recorded)
            refused = again.get("kind") in REFUSED
            operator["tier"] = "plan" if again["recorded"] else "host" if refused else "neither"
            operator["reason"] = "" if again["recorded"] else _why(again)

    def _recorded(self, folders: list[Path], other_shapes: bool = False) -> Report:
        from tritonbench_operator import record_operators

        return self._step(
            "record other shapes" if other_shapes else "record",
            lambda: record_operators(folders, self._target, self._cache, other_shapes),
            self._interpret_step_wall_s if other_shapes else 0,
        )

    def _interpret(self, operators: list[Report]) -> None:
        """Marks the cases that can be judged without a GPU. Adds their number to each operator."""
        import golden_interpreter as interpreter

        for operator in operators:
            operator["interpreted"] = 0
        folders = [
            self._suite / "standard" / one["name"] for one in operators if one["tier"] == "plan"
        ]
        file = self._cache.parent / "golden-outputs"
        found = self._found_by(
            {
                "golden outputs": lambda: interpreter.golden_outputs(folders, file),
                "interpret": lambda: interpreter.confirmed(folders, file, False),
                "interpret in reverse": lambda: interpreter.confirmed(folders, file, True),
            }
            if folders
            else {}
        )
        for operator in operators:
            cases = found.get(operator["name"], [])
            operator["interpreted"] = len(cases)
            if operator["tier"] == "plan":
                interpreter.mark(self._suite / "standard" / operator["name"], cases)
        self._add_other_shapes(operators, folders, found)

    def _add_other_shapes(
        self, operators: list[Report], folders: list[Path], calls: Report
    ) -> None:
        """Adds hidden cases of other shapes to operators that the interpreter runs. `calls` are the
        public cases that it runs."""
        import golden_interpreter as interpreter
        import golden_other_shapes as shapes

        file = self._cache.parent / "other-outputs"
        found = self._found_by(
            {
                "other shapes": lambda: shapes.other_outputs(folders, calls, file),
                "interpret other shapes": lambda: interpreter.confirmed(folders, file, False),
                "interpret them in reverse": lambda: interpreter.confirmed(folders, file, True),
            }
            if folders
            else {}
        )
        made = [folder for folder in folders if found.get(folder.name)]
        recorded = self._recorded(made, other_shapes=True) if made else {}
        for folder in folders:
            if not recorded.get(folder.name, {}).get("recorded"):
                found.pop(folder.name, None)
            shapes.keep(folder, found.get(folder.name, []))
        for operator in operators:
            operator["other_shapes"] = len(found.get(operator["name"], []))

    def _found_by(self, steps: dict[str, Callable[[], Report]]) -> Report:
        """Returns the cases that every step finds, by operator. A step that crashed has found
        nothing."""
        found: Report | None = None
        for name, work in steps.items():
            seen = self._step(name, work, self._interpret_step_wall_s)
            seen = {} if seen.get("kind") == "crash" else seen
            if found is None:
                found = seen
            else:
                found = {
                    operator: [case for case in cases if case in seen.get(operator, [])]
                    for operator, cases in found.items()
                }
            if not any(found.values()):
                return {}
        return found or {}


class _ProblemImport(FileImport):
    """The import of a problem file of KernelBench."""

    def run(self) -> None:
        from kernelbench_problem import import_problem

        limit = self._golden.options["case_memory_mib"]
        found = self._step(
            "import", lambda: import_problem(self._golden, self._file, self._suite, limit)
        )
        made = found["recorded"]
        self._send(
            {
                "tier": "plan" if made else "neither",
                "kind": "" if made else found["kind"],
                "reason": "" if made else _why(found),
                "calls": found.get("calls", 0),
                "left_out": found.get("left_out", []),
                "operators": [
                    {**operator, "tier": "plan", "reason": ""}
                    for operator in found.get("operators", [])
                ],
            }
        )


def _shown(output: str) -> str:
    """Returns the line of a crashed process's output that says most: what an exception of C++ says,
    which a list of frames follows, or else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    thrown = [line for line in lines if line.startswith("what():")]
    return (thrown or lines or [""])[-1][:300]


def _why(found: Report) -> str:
    where = f", line {found['line']}" if found.get("line") else ""
    lines = str(found.get("message")).splitlines() or [""]
    return f"{found.get('kind')}{where}: {lines[0][:300]}"
