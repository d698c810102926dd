"""A candidate: a process that serves one job with one submission and then exits. The process is
untrusted from the moment it sends `parsed`. Until then it runs only Assay's own code. An error that
the source cannot have caused then ends the process without an `error`, and the supervisor knows that
it was not the submission's fault.

    status = serve(channel, layers)  # waits, reads `job`, answers `parsed`, `imported`, ..., `done`
    os._exit(status)

The job contains the source but no cases. The supervisor sends the cases in batches after it has
received `imported`, so the import of the submission cannot read a case. `parsed` is sent before any
code of the submission runs. The messages up to `parsed` come from the harness itself. The
submission could forge every later message. An `error` frame ends the job, and no `done` follows it.
`serve` never raises an exception, whatever the submission does."""

from __future__ import annotations

import builtins
import contextlib
import dis
import importlib.util
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, ModuleType
from typing import Any

from harness import triton_adapter
from harness.candidate.host import HostRunner
from harness.cuda_cpp.runner import CudaCppRunner
from harness.entry.cases import CaseInput
from harness.entry.errors import (
    ManifestError,
    MissingDialect,
    MissingEntry,
    Source,
    UnsupportedHere,
    describe,
)
from harness.entry.fake_cuda import targets
from harness.entry.given_arguments import with_arguments
from harness.entry.thread_pool import renew_thread_pool
from harness.entry.time_limit import TimeIsUp, TimeLimit
from harness.interpreting.interpret import InterpretRunner
from harness.recording.disassemble import BrokenPlan, disassemblies
from harness.recording.record import RecordRunner
from harness.wire.frames import Channel, Frame, FrameError

MODULE = "submission"
ADAPTER_FILE = "<adapter>"  # the file name of an operator's adapter in tracebacks
Layers = list[dict[str, Any]]
PythonRunner = InterpretRunner | RecordRunner | HostRunner
Runner = PythonRunner | CudaCppRunner
# A function that runs one case and returns the header and the payload of the reply.
Work = Callable[[CaseInput], tuple[dict[str, Any], bytes]]
LANGUAGES = ("python", "cuda")
# The errors that a source can cause before any of its code runs. RecursionError and MemoryError come
# from deeply nested sources.
CAUSED_BY_SOURCE = (
    SyntaxError,
    ValueError,
    OverflowError,
    RecursionError,
    MemoryError,
    ManifestError,
    MissingEntry,
    UnsupportedHere,
    TimeIsUp,
)


def serve(channel: Channel, layers: Layers) -> int:
    """Waits until a job arrives, and runs the job. Returns the exit status: 0, or 3 if the harness
    itself has a defect."""
    try:
        renew_thread_pool()
        channel.send({"type": "parked", "layers": layers})
        frame = channel.receive()
        if frame is None:
            return 0
        if frame.type == "reference":
            from harness.judging import reference_judge  # a submission's process never needs it

            return reference_judge.serve(channel, frame)
        if frame.type == "judge":
            from harness.judging import jailed_judge

            return jailed_judge.serve(channel, frame)
        if frame.type != "job":
            raise FrameError(f"expected a job, got {frame.type!r}")
        _run_job(channel, frame)
        return 0
    except (BrokenPipeError, ConnectionError):
        return 0  # the supervisor has closed the connection
    except BaseException:
        traceback.print_exc()
        return 3
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()


def _runner(header: dict[str, Any], fds: Sequence[int], folder: str) -> Runner:
    cache = os.path.join(folder, "triton-cache")
    language = header.get("language", LANGUAGES[0])
    if language not in LANGUAGES:
        raise FrameError(f"language {language!r} is none of {', '.join(LANGUAGES)}")
    if language == "cuda":
        return _cuda_runner(header)
    if header.get("dialect") == "tlx" and (missing := triton_adapter.tlx_missing()):
        raise MissingDialect(missing)
    if header["mode"] == "host":
        return HostRunner(header, cache, fds)
    if header["mode"] in ("interpret", "ablate", "reorder"):
        if header.get("dialect", "triton") != "triton":
            raise UnsupportedHere(
                f"dialect {header['dialect']} cannot run in Triton's CPU interpreter; it needs a GPU"
            )
        return InterpretRunner(
            cache, ablated=header["mode"] == "ablate", reverse=header["mode"] == "reorder"
        )
    if header["mode"] != "record":
        raise FrameError(
            f"mode {header['mode']!r} is none of host, interpret, ablate, reorder, record, disassemble"
        )
    if header["target"] not in targets():
        raise UnsupportedHere(f"target {header['target']!r} is none of {', '.join(targets())}")
    return RecordRunner(
        header["target"],
        cache,
        alternatives=bool(header.get("alternatives")),
        arithmetic=bool(header.get("arithmetic")),
    )


def _cuda_runner(header: dict[str, Any]) -> CudaCppRunner:
    dialect = header.get("dialect", "triton")
    if dialect != "triton":
        raise UnsupportedHere(
            f"the operator requires dialect {dialect}, which is written in Python; CUDA C++ is for other operators"
        )
    if header["mode"] != "record":
        raise UnsupportedHere(
            "CUDA C++ has no interpreter; it runs on an NVIDIA GPU, from a launch plan"
        )
    return CudaCppRunner(str(header["target"]))


def _prepare(
    runner: Runner, source: Source, entry: str, adapter: str, announce_parsed: Callable[[], None]
) -> Work:
    """Loads the source and returns the function that runs one case. Calls `announce_parsed` before
    any code of the submission runs. A source in CUDA C++ needs no adapter, because its comment names
    the operator's arguments."""
    if isinstance(runner, CudaCppRunner):
        runner.load(source.text)
        announce_parsed()
        return runner.run_case
    code = _parse(source)
    announce_parsed()
    with runner.context():
        function = _import(source, code, entry, adapter)
    return lambda case: runner.run_case(case, function)


class _Batch:
    """The cases of one batch, which the supervisor sent together. `last` is true if no other batch
    follows."""

    def __init__(self, frame: Frame) -> None:
        if frame.type != "cases" or not isinstance(frame.header.get("cases"), list):
            raise FrameError(f"expected cases, got {frame.type!r}")
        self.cases = [CaseInput(wire, frame.fds) for wire in frame.header["cases"]]
        self.last = bool(frame.header.get("last"))
        self.run_wall_ms = frame.header.get("run_wall_ms")


def _batches(channel: Channel) -> Iterator[_Batch]:
    """Yields the batches. The batch whose `last` is true is the last one."""
    while (frame := channel.receive()) is not None:
        batch = _Batch(frame)
        yield batch
        if batch.last:
            return
    raise ConnectionError("the supervisor ended before it had sent all cases")


def _run_job(channel: Channel, frame: Frame) -> None:
    header = frame.header
    folder = tempfile.mkdtemp(prefix="job-")
    if header["mode"] == "disassemble":
        return _disassemble(channel, frame.payload, folder)
    source = Source(frame.payload.decode("utf-8", "replace"), os.path.join(folder, f"{MODULE}.py"))
    stage, parsed = "import", False
    current: CaseInput | None = None
    limit = TimeLimit()

    def announce_parsed() -> None:
        nonlocal parsed
        with limit.held():
            channel.send({"type": "parsed"})
            parsed = True

    try:
        if "import_wall_ms" in header:
            limit.start(header["import_wall_ms"])
        runner = _runner(header, frame.fds, folder)
        work = _prepare(
            runner,
            source,
            str(header["entry"]),
            str(header.get("adapter", "")),
            announce_parsed,
        )
        with limit.held():
            channel.send({"type": "imported"})
            limit.stop()
            stage = runner.stage
        for batch in _batches(channel):
            if batch.run_wall_ms is not None:
                limit.start(batch.run_wall_ms)
            for case in batch.cases:
                current = case
                reply = work(case)
                with limit.held():
                    channel.send(*reply)
            limit.stop()
    except (BrokenPipeError, ConnectionError, FrameError):
        raise
    except BaseException as error:
        limit.stop()
        if not parsed and not isinstance(error, CAUSED_BY_SOURCE):
            raise  # no code of the submission has run, so this is an error of Assay's own
        found = describe(error, source, stage, None if current is None else current.id)
        channel.send(with_arguments(found, current))
        return
    if header.get("artifacts"):
        for kind, name, text in runner.artifacts():
            channel.send({"type": "artifact", "kind": kind, "name": name}, text)
    channel.send({"type": "done"})


def _disassemble(channel: Channel, plan: bytes, folder: str) -> None:
    """Disassembles the binaries of a recorded plan. The plan is only data, so no code of a
    submission is imported."""
    channel.send({"type": "imported"})
    try:
        for name, text in disassemblies(plan, folder):
            channel.send({"type": "artifact", "kind": "sass", "name": name}, text)
    except (BrokenPlan, OSError, RuntimeError) as error:
        message = f"{type(error).__name__}: {error}"
        channel.send(
            {
                "type": "error",
                "stage": "run",
                "kind": "runtime_error",
                "exception": type(error).__name__,
                "message": message,
            }
        )
        return
    channel.send({"type": "done"})


def _parse(source: Source) -> CodeType:
    """Writes the source to a file, because Triton reads the text of kernels from files. Then
    compiles the source, without running any of its code."""
    with open(source.path, "w", encoding="utf-8") as stream:
        stream.write(source.text)
    source.remember()
    sys.dont_write_bytecode = True
    return compile(source.text.encode(), source.path, "exec", dont_inherit=True)


def _import(source: Source, code: CodeType, entry: str, adapter: str) -> Callable[..., Any]:
    """Executes the compiled source as the module `submission`, and after it the operator's adapter.
    Returns the entry function."""
    sys.argv = [MODULE]
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    spec = importlib.util.spec_from_file_location(MODULE, source.path)
    if spec is None:
        raise FrameError(f"no loader for {source.path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module
    exec(code, module.__dict__)
    if adapter:
        return adapted(module, entry, adapter)
    found = getattr(module, entry, None)
    if not callable(found):
        raise MissingEntry(_missing(vars(module), entry))
    return found  # type: ignore[no-any-return]


def adapted(module: ModuleType, entry: str, adapter: str) -> Callable[..., Any]:
    """Executes the adapter in the module and returns the entry function that it defines. Raises
    MissingEntry if the module lacks a function that the adapter calls. The adapter has a file name
    of its own, so no line of it counts as one of the submission's."""
    own = dict(vars(module))
    exec(compile(adapter, ADAPTER_FILE, "exec", dont_inherit=True), module.__dict__)
    function: Callable[..., Any] = module.__dict__[entry]
    wanted = (
        step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"
    )
    for name in wanted:
        if not hasattr(module, name) and not hasattr(builtins, name):
            raise MissingEntry(_missing(own, name))
    return function


def _ways(value: Any) -> tuple[Any, Any]:
    """Returns the object and the function that it wraps. A kernel for the interpreter has no name
    of a module itself."""
    return value, getattr(value, "fn", None)


def _missing(defined_names: dict[str, Any], entry: str) -> str:
    names = [
        name
        for name, value in defined_names.items()
        if callable(value) and MODULE in (getattr(one, "__module__", None) for one in _ways(value))
    ]
    if entry in defined_names:
        return f"`{entry}` is a {type(defined_names[entry]).__name__}, not a function"
    defined = f"it defines {', '.join(sorted(names)[:20])}" if names else "it defines no function"
    return f"the source does not define the entry function `{entry}`; {defined}"
