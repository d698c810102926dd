"""Says what a submission should contain instead, if an exception has a well-known cause: a name that
does not exist, `tl` functions in host code, text that is not Python, or code that runs at import.

    advice(error, source.text, source.path, "import")  # "tl.matmul does not exist: tl.dot(...)"

The advice depends on the types and attributes of the exceptions and on the syntax tree of the
source, never on the words of a message. Nothing decides on the advice: it is only shown."""

from __future__ import annotations

import ast
import codeop
import difflib
import keyword
import re
import sys
import textwrap
import traceback
import warnings
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any

from harness.entry.replacements import IMPORTS, INSTEAD

NEAREST = 3  # the number of similar names that are offered
SIMILAR = 0.6
MOST_CAUSES = 16
MOST_PROSE = 40  # the number of lines before the code that may be prose
PLACE = "<source>"
_FENCE = re.compile(r"^\s*(```|~~~)", re.MULTILINE)
_LANGUAGE = ("triton.language.core", "triton.language.standard")
_LIBDEVICE = "triton.language.extra.libdevice"
_NO_RUN = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
)
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
_WORD = re.compile(r"\W")
_ON_POINTERS = ("shape", "stride", "size", "numel")


def advice(raised: BaseException, text: str, path: str, stage: str) -> str:
    """Returns one sentence, or ""."""
    chain = _all_causes(raised)
    for error in chain:
        if isinstance(error, SyntaxError) and error.filename == path:
            return _for_text(text) or _for_indentation(error, text) or _for_end(text)
    for error in chain:
        if isinstance(error, AttributeError) and (found := _for_attribute(error)):
            return found
        if isinstance(error, NameError) and error.name in IMPORTS:
            return f"Add `{IMPORTS[error.name]}`."
        if _is_kernel_function_on_host(error, path):
            return "tl.* works only in kernels; on the host use triton.cdiv, triton.next_power_of_2 and torch.empty."
    tree = _parsed(text)
    if tree is None:
        return ""
    lines = _lines(chain, path)
    if stage == "import":
        return _for_import(tree, lines)
    return _for_kernel(chain, tree, lines)


def _all_causes(error: BaseException) -> list[BaseException]:
    """Returns the exception and its causes, also those that `raise ... from None` hides. Triton
    hides the exception that its compiler has met."""
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found and len(found) < MOST_CAUSES:
        found.append(current)
        current = current.__cause__ or current.__context__
    return found


def owner_of(thing: object) -> str:
    """Returns the key of INSTEAD for the object whose attribute is missing, or ""."""
    if isinstance(thing, ModuleType):
        return {"triton.language": "tl", "triton": "triton"}.get(thing.__name__, "")
    tensor = getattr(sys.modules.get("triton.language"), "tensor", None)
    return "value" if isinstance(tensor, type) and isinstance(thing, tensor) else ""


def _for_attribute(error: AttributeError) -> str:
    name, thing = error.name, error.obj
    if not isinstance(name, str) or not name.isidentifier() or thing is None:
        return ""
    owner = owner_of(thing)
    libdevice = sys.modules.get(_LIBDEVICE)
    if isinstance(thing, FunctionType) and name == "arg_names":
        return "@triton.autotune and @triton.heuristics stand directly above @triton.jit."
    similar = False
    if name in INSTEAD.get(owner, {}):
        instead = INSTEAD[owner][name]
    elif owner and hasattr(libdevice, name):
        instead = f"libdevice.{name}(x)"
    elif owner == "value" and hasattr(sys.modules.get("triton.language"), name):
        instead = f"tl.{name}(x)"
    elif owner == "triton" and hasattr(sys.modules.get("torch"), name):
        instead = f"torch.{name}(...)"
    else:
        names = dir(thing) if isinstance(thing, ModuleType) else dir(type(thing))
        public = [one for one in names if not one.startswith("_")]
        instead = ", ".join(difflib.get_close_matches(name, public, NEAREST, SIMILAR))
        similar = True
    if not instead:
        return ""
    if "libdevice" in instead:
        instead += f" (`{IMPORTS['libdevice']}`)"
    shown = {"tl": "tl.", "triton": "triton."}.get(owner, ".")
    remedy = f"similar names: {instead}" if similar else f"write {instead}"
    return f"{shown}{name} does not exist; {remedy}."


def _for_text(text: str) -> str:
    """Returns advice for a source that Python cannot parse: it may contain more than code."""
    if (fence := _FENCE.search(text)) is not None:
        at = text.count("\n", 0, fence.start()) + 1
        return f"Send the source without Markdown fences (line {at}) and without prose."
    lines = text.split("\n")
    for start in range(min(len(lines), MOST_PROSE)):
        if not lines[start].strip():
            continue
        end = _end_of_code(lines, start)
        before, behind = lines[:start], lines[end:]
        if (end < len(lines) or start) and _is_prose(before) and _is_prose(behind):
            where = ["line 1" if start == 1 else f"lines 1 to {start}"] if start else []
            where += [f"from line {end + 1} on"] if behind else []
            return f"Send only code: {' and '.join(where)}, the text is not Python."
    return ""


def _for_indentation(error: SyntaxError, text: str) -> str:
    """Returns advice for a source that is right except for its indentation."""
    if not isinstance(error, IndentationError):
        return ""
    if _parsed(textwrap.dedent(text)) is not None:
        return "Every line is indented: remove the spaces that all lines begin with."
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if _parsed("\n".join([lines[first].lstrip(), *lines[first + 1 :]])) is not None:
        return f"Line {first + 1} is indented: remove the spaces before its code."
    return ""


def _for_end(text: str) -> str:
    """Returns advice for a source that ends within a statement. An answer of a language model ends
    so if it reached the limit of its length."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            unfinished = codeop.compile_command(text, PLACE, "exec") is None
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
            return ""
    return (
        "The source ends within a statement: it was cut off, or a bracket stays open." * unfinished
    )


def _end_of_code(lines: list[str], start: int) -> int:
    """Returns the end of the code that begins at `start`, or 0 if no definition begins there. Code
    ends at its first line that is not Python."""
    text = "\n".join(lines[start:])
    tree, end = _parsed(text), len(lines)
    if tree is None:
        end = start + _first_error(text)
        tree = _parsed("\n".join(lines[start:end]))
    if tree is None or not any(isinstance(one, _DEFINITIONS) for one in tree.body):
        return 0
    return end


def _first_error(text: str) -> int:
    """Returns the number of lines before the first line that is not Python."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        return max((error.lineno or 1) - 1, 0)
    except (ValueError, RecursionError, MemoryError):
        return 0
    return text.count("\n") + 1


def _is_prose(lines: list[str]) -> bool:
    """Returns True if the lines are words of a natural language, or if there are none. Such a line
    has several words, no `=` and no open bracket. It begins with no word of Python, or it ends with
    a full stop."""
    shown = [line.strip() for line in lines if line.strip()]
    if any(
        line.startswith("@")
        or (_WORD.split(line, 1)[0] in keyword.kwlist and not line.endswith("."))
        for line in shown
    ):
        return False
    return not shown or any(map(_is_sentence, shown))


def _is_sentence(line: str) -> bool:
    closed = all(line.count(left) == line.count(right) for left, right in ("()", "[]", "{}"))
    return len(line.split()) > 1 and "=" not in line and closed and _parsed(line) is None


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _lines(chain: Sequence[BaseException], path: str) -> list[int]:
    """Returns the lines of the source in the stack of the first exception, the outermost first."""
    frames = traceback.extract_tb(chain[0].__traceback__)
    return [frame.lineno for frame in frames if frame.filename == path and frame.lineno]


def _for_import(tree: ast.Module, lines: list[int]) -> str:
    """Returns advice if a statement of the module, such as a test, has raised the exception.
    Returns "" for definitions, for imports, and for assignments that call nothing."""
    for statement in tree.body:
        within = lines and statement.lineno <= lines[0] <= (statement.end_lineno or 0)
        if within and isinstance(statement, ast.ImportFrom) and statement.level:
            names = ", ".join(one.name for one in statement.names)
            return f"A submission is one file: define {names} in it."
        if not within or isinstance(statement, _NO_RUN):
            continue
        if isinstance(statement, ast.Assign | ast.AnnAssign) and len(lines) == 1:
            calls = [one for one in ast.walk(statement) if isinstance(one, ast.Call)]
            if not calls:
                continue
        if not any(isinstance(one, _DEFINITIONS) for one in tree.body):
            return f"The source defines no function: line {lines[0]} runs at import."
        return f"Line {lines[0]} runs at import: remove tests, examples and benchmarks."
    return ""


def _is_kernel_function_on_host(error: BaseException, path: str) -> bool:
    """Returns True if host code of the submission has called a function of triton.language. Triton
    raises the exception in its own wrapper of the function."""
    frames = traceback.extract_tb(error.__traceback__)
    if len(frames) < 2 or frames[-2].filename != path:
        return False
    inner = frames[-1]
    called = {
        getattr(sys.modules.get("triton.language.core"), "__file__", ""): "wrapper",
        getattr(sys.modules.get("triton.runtime.jit"), "__file__", ""): "__call__",
    }
    return called.get(inner.filename) == inner.name


def _for_kernel(chain: Sequence[BaseException], tree: ast.Module, lines: list[int]) -> str:
    """Returns advice for an exception that the compiler or the interpreter of a kernel raised. If
    `lines` is empty, no code of the submission has run."""
    node = next((one.node for one in chain if hasattr(one, "node")), None)
    if isinstance(node, ast.AST):
        for part in ast.walk(node):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.MatMult):
                return "A kernel has no operator @; write tl.dot(a, b, acc)."
        if _cuts_block(node):
            return "A kernel cannot cut a block by start and end: load the part that you need, or mask the rest."
        if (pointer := _shape_of_pointer(node)) is not None:
            return f"`{pointer}` is a pointer in a kernel: pass sizes and strides as arguments of the kernel."
    if _reduces_number(chain):
        return "A reduction needs a block, and got one number: load a block with offsets from tl.arange."
    for call in _launches(tree) if lines else ():
        for value in [*call.args, *(one.value for one in call.keywords)]:
            if (
                isinstance(value, ast.Call)
                and isinstance(value.func, ast.Attribute)
                and value.func.attr == "data_ptr"
            ):
                return (
                    f"Pass {ast.unparse(value.func.value)} to the kernel, not {ast.unparse(value)}."
                )
    return ""


def _reduces_number(chain: Sequence[BaseException]) -> bool:
    """Returns True if a function of triton.language with an axis got a scalar as its input. Its
    stack frames have both."""
    tensor: Any = getattr(sys.modules.get("triton.language"), "tensor", None)
    for error in chain:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_globals.get("__name__") not in _LANGUAGE:
                continue
            given: Any = frame.f_locals.get("input")
            if isinstance(tensor, type) and isinstance(given, tensor) and "axis" in frame.f_locals:
                kind: Any = getattr(given, "type", None)
                return not kind.is_block()
    return False


def _cuts_block(node: ast.AST) -> bool:
    slices = [part for part in ast.walk(node) if isinstance(part, ast.Slice)]
    return any(part.lower or part.upper or part.step for part in slices)


def _shape_of_pointer(node: ast.AST) -> str | None:
    for part in ast.walk(node):
        if (
            isinstance(part, ast.Attribute)
            and part.attr in _ON_POINTERS
            and isinstance(part.value, ast.Name)
        ):
            return part.value.id
    return None


def _launches(tree: ast.Module) -> list[Any]:
    """Returns the calls of the form `kernel[grid](...)`."""
    return [
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Subscript)
    ]
