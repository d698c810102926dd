"""Describes an exception that a submission caused. The description contains the supervisor's
ErrorKind and, if it is known, the number and the text of the submission's line that caused it.

    source = Source(text, path)
    try:
        run_user_code()
    except BaseException as error:
        channel.send(describe(error, source, stage="import"))

Only stack frames of the submission's own file are shown. `describe` never raises an exception, even
if the exception object is malicious."""

from __future__ import annotations

import linecache
import re
import traceback
from dataclasses import dataclass
from typing import Any

from harness.entry.advice import advice
from harness.entry.time_limit import TimeIsUp

MESSAGE_CHARS = 4000
TRACEBACK_CHARS = 8000
ADVICE_CHARS = 300
CHAIN = 16
MOST_ERRNO = 4095  # the kernel's own limit

# Maps exception classes to kinds. The first class in this list to which an exception belongs
# decides its kind, so each class precedes its base classes. The kinds are those of ErrorKind in
# sandbox/job/job.h.
_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (IndentationError, "indentation_error"),
    (SyntaxError, "syntax_error"),
    (AttributeError, "attribute_error"),
    (NotImplementedError, "not_implemented_error"),
    (RecursionError, "recursion_error"),
    (ModuleNotFoundError, "module_not_found"),
    (ImportError, "import_error"),
    (NameError, "name_error"),
    (KeyError, "key_error"),
    (IndexError, "index_error"),
    (ZeroDivisionError, "zero_division"),
    (AssertionError, "assertion_error"),
    (MemoryError, "memory_limit"),
    (TypeError, "type_error"),
    (ValueError, "value_error"),
    (RuntimeError, "runtime_error"),
)
_COMPILER = (
    "CompilationError",
    "UnsupportedLanguageConstruct",
    "CompileTimeAssertionFailure",
    "PTXASError",
    "OutOfResources",
    "CudaCompilationError",
)
_FAKE_SHOWN = re.compile(r"\bFakeTensor\(\.\.\., ")  # the start of what repr() returns
_FAKE = re.compile(r"\b(?:torch\._subclasses\.fake_tensor\.)?FakeTensor\b")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+(?=>)")
_EXITS = (SystemExit, KeyboardInterrupt)


class NotRecordable(RuntimeError):
    """The submission does something that a launch plan cannot express. The message names this
    action.

    `reads_values` is true if host code reads values of a device tensor, which is allowed only for
    arguments that are declared structural. `subject` is the name of a torch operation if one of the
    submission's kernels could replace it."""

    def __init__(self, message: str, reads_values: bool = False, subject: str = "") -> None:
        super().__init__(message)
        self.reads_values = reads_values
        self.subject = subject


class MissingEntry(Exception):
    """The source does not define the entry function, or a CUDA C++ source has no manifest."""


class InterfaceMismatch(Exception):
    """The class of the submission does not fit the task's class: its constructor, its forward, or
    the names, shapes or dtypes of its parameters and buffers differ."""


class BadOutputs(Exception):
    """The entry returned something other than the spec's outputs, or it wrote to an input. If it
    wrote to an input, `subject` is the argument's name."""

    def __init__(self, message: str, subject: str = "") -> None:
        super().__init__(message)
        self.subject = subject


class UnsupportedHere(Exception):
    """This mode, target or machine cannot run the submission. The message says what is needed."""


class MissingDialect(UnsupportedHere):
    """The operator's dialect is not installed, so no submission for it can run on this machine."""


class ManifestError(Exception):
    """The manifest of a CUDA C++ submission is wrong. `kind` is the supervisor's ErrorKind. `line`
    is a line number in the submission."""

    def __init__(self, kind: str, message: str, line: int) -> None:
        super().__init__(message)
        self.kind = kind
        self.line = line


class CudaCompilationError(Exception):
    """NVRTC rejected the source. The message is NVRTC's log, and `line` is the line of the first
    error."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


class OutOfBounds(Exception):
    """An interpreted kernel accessed memory that belongs to no tensor."""


# As in Python, a line ends with LF, CR, or CR LF. str.splitlines() knows further line ends.
LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass
class Source:
    """The submission's text, and the path of the file from which it is imported."""

    text: str
    path: str

    def line(self, number: int | None) -> str:
        lines = LINE_END.split(self.text)
        return (
            lines[number - 1].strip()[:400]
            if number is not None and 0 < number <= len(lines)
            else ""
        )

    def own_line(self, number: object) -> int | None:
        """Returns `number` if the text has a line with this number, else None. This check is needed
        because a submission can raise an exception that contains any number."""
        lines = len(LINE_END.split(self.text))
        return number if type(number) is int and 1 <= number <= lines else None

    def remember(self) -> None:
        """Registers the text, so that tracebacks and inspect.getsource find it even if the file
        changes."""
        linecache.cache[self.path] = (
            len(self.text),
            None,
            [line + "\n" for line in LINE_END.split(self.text)],
            self.path,
        )


def describe(
    error: BaseException, source: Source, stage: str, case: str | None = None
) -> dict[str, Any]:
    """Returns the header of the `error` frame for an exception that the submission caused."""
    try:
        return _describe(error, source, stage, case)
    except BaseException as broken:  # an exception class may have a hostile __str__ or __class__
        kind = f"{type(error).__name__}, which could not be read ({type(broken).__name__})"
        return _header(
            stage, "other_exception", str(type(error).__name__), kind, None, "", "", case
        )


def _describe(error: BaseException, source: Source, stage: str, case: str | None) -> dict[str, Any]:
    chain = _chain(error)
    cause = _root_cause(chain)
    kind = _kind(chain, cause)
    if kind == "compilation_error" and stage != "import":
        stage = "compile"
    line = source.own_line(_line(chain, source))
    name = type(cause).__name__
    if isinstance(error, _EXITS):
        name = type(error).__name__
        what = (
            f"called exit({error.code!r})"
            if isinstance(error, SystemExit)
            else "raised KeyboardInterrupt"
        )
        message = f"the submission {what} during {stage}; a submission must return from its entry function"
    else:
        message = _message(cause, source)
    header = _header(
        stage, kind, name, message, line, source.line(line), _traceback(chain, source), case
    )
    if isinstance(cause, (NotRecordable, BadOutputs)) and cause.subject:
        header["subject"] = _clean(str(cause.subject))[:200]
    if found := _advice(error, source, stage):
        header["advice"] = _clean(found)[:ADVICE_CHARS]
    if (number := _errno(chain)) is not None:
        header["errno"] = number
    if type(number := getattr(cause, "error_code", None)) is int and 0 < number <= MOST_ERRNO:
        header["device_error"] = number  # of torch.AcceleratorError
    return header


def _advice(error: BaseException, source: Source, stage: str) -> str:
    """Returns the advice about an exception. A hostile exception object can make advice()
    fail, and then there is no advice. The description of the exception must not depend on it."""
    try:
        return advice(error, source.text, source.path, stage)
    except Exception:
        return ""


def _header(
    stage: str,
    kind: str,
    name: str,
    message: str,
    line: int | None,
    code: str,
    trace: str,
    case: str | None,
) -> dict[str, Any]:
    return {
        "type": "error",
        "stage": stage,
        "kind": kind,
        "exception": _clean(name)[:200],
        "message": _plain(message)[:MESSAGE_CHARS],
        "line": line,
        "code": _clean(code),
        "traceback": _plain(trace)[-TRACEBACK_CHARS:],
        "case": case,
    }


def _clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(text: str) -> str:
    """Returns the text as it would be on a GPU: a fake tensor of the recorder is a tensor to the
    submission. Addresses of objects are left out, because they help nobody and differ each time."""
    return _ADDRESS.sub("", _FAKE.sub("Tensor", _FAKE_SHOWN.sub("Tensor(", _clean(text))))


def _chain(error: BaseException) -> list[BaseException]:
    """Returns the exception and its causes, the outermost exception first."""
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found and len(found) < CHAIN:
        found.append(current)
        current = current.__cause__ or (
            None if current.__suppress_context__ else current.__context__
        )
    return found


def _errno(chain: list[BaseException]) -> int | None:
    """Returns the error number of the first system call of the chain that failed."""
    for error in chain:
        number = error.errno if isinstance(error, OSError) else None
        if type(number) is int and 0 < number <= MOST_ERRNO:
            return number
    return None


def _root_cause(chain: list[BaseException]) -> BaseException:
    """Returns the exception of a chain that explains the failure best. It is the first of these
    that exists: an exception of the harness, an exception of the compiler, the exception that the
    interpreter wraps, the outermost exception."""
    for error in chain:
        if isinstance(
            error,
            TimeIsUp
            | NotRecordable
            | MissingEntry
            | InterfaceMismatch
            | BadOutputs
            | UnsupportedHere
            | ManifestError,
        ):
            return error
    for error in reversed(chain):
        if type(error).__name__ in _COMPILER:
            return error
    if type(chain[0]).__name__ == "InterpreterError":
        return next(
            (error for error in chain if type(error).__name__ != "InterpreterError"), chain[0]
        )
    return chain[0]


def _kind(chain: list[BaseException], cause: BaseException) -> str:
    if isinstance(chain[0], _EXITS):
        return "protocol_error"
    if isinstance(cause, NotRecordable):
        return "not_recordable"
    if isinstance(cause, MissingEntry):
        return "missing_entry"
    if isinstance(cause, InterfaceMismatch):
        return "interface_mismatch"
    if isinstance(cause, BadOutputs):
        return "output_mismatch"
    if isinstance(cause, UnsupportedHere):
        return "unsupported"
    if isinstance(cause, OutOfBounds):
        return "canary_violation"
    if isinstance(cause, TimeIsUp):
        return "timeout"
    if isinstance(cause, ManifestError):
        return cause.kind
    if type(cause).__name__ in _COMPILER or _from_compiler(cause):
        return "compilation_error"
    for base, kind in _KINDS:
        if isinstance(cause, base):
            return kind
    return "other_exception"


def _from_compiler(error: BaseException) -> bool:
    """Returns True if LLVM or MLIR raised the error. Both raise plain RuntimeErrors. The last stack
    frame of such an error is in the file compiler.py of one of Triton's backends."""
    frames = traceback.extract_tb(error.__traceback__)
    return (
        bool(frames)
        and isinstance(error, RuntimeError)
        and bool(re.search(r"triton/backends/\w+/compiler\.py$", frames[-1].filename))
    )


def _line(chain: list[BaseException], source: Source) -> int | None:
    """Returns the line of the submission that the compiler reports. If no exception of the chain
    has such a line, returns the innermost line of the submission in the stack frames."""
    for error in reversed(chain):
        if isinstance(error, ManifestError | CudaCompilationError):
            return error.line
        if isinstance(error, SyntaxError) and error.filename == source.path:
            return error.lineno
        line = _compiler_line(error, source)
        if line is not None:
            return line
    for error in reversed(chain):
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if frame.filename == source.path:
                return frame.lineno
    return None


def _compiler_line(error: BaseException, source: Source) -> int | None:
    """Returns the line of the submission for a compiler error. Triton reports the line relative to
    the text of a function."""
    node, text = getattr(error, "node", None), getattr(error, "src", None)
    if (
        type(error).__name__ not in _COMPILER
        or not isinstance(text, str)
        or not hasattr(node, "lineno")
    ):
        return None
    first = text.split("\n", 1)[0].strip()
    lines = source.text.split("\n")
    body = [line.strip() for line in text.rstrip("\n").split("\n")]
    for start, line in enumerate(lines):
        if line.strip() == first and [x.strip() for x in lines[start : start + len(body)]] == body:
            return start + int(node.lineno)  # type: ignore[union-attr]
    return None


def _message(error: BaseException, source: Source) -> str:
    if isinstance(error, SyntaxError):
        return str(error.msg)
    own = getattr(error, "error_message", None)
    if type(error).__name__ in _COMPILER and isinstance(own, str) and own:
        return own
    text = str(error)
    empty = "no message" if isinstance(error, AssertionError) else type(error).__name__
    return text or empty


def _traceback(chain: list[BaseException], source: Source) -> str:
    parts = []
    for error in reversed(chain):
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == source.path and source.own_line(frame.lineno)
        ]
        if frames:
            shown = [
                f"  line {frame.lineno}, in {frame.name}\n    {source.line(frame.lineno)}"
                for frame in frames[-20:]
            ]
            parts.append("\n".join([*shown, f"{type(error).__name__}: {str(error)[:500]}"]))
    return "\n\n".join(parts)
