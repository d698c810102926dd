"""Collects the calls that a golden file's test part makes of its kernel part, and decides which of
them can be cases of an operator.

    calls = trace(path, target, cache) # runs the file on a recorder that allows torch arithmetic
    for group in groups(calls): # each group has calls of one form and becomes one operator
        print(len(group))

A call (harness/imported/proxies.py says what counts as one) can be a case if it meets two
conditions. First, it launches a kernel and has an output. Second, every argument is a tensor, a
number, or something that can be written as Python (golden_expressions.py). A tensor that is given
twice, or that shares memory with another one, becomes an argument of its own. Calls of one form
have the same function, structure, constants, dtypes and ranks. They differ only in shapes and
numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import golden_file  # noqa: E402
import torch  # noqa: E402
from golden_draws import Draw, Draws  # noqa: E402
from golden_expressions import (  # noqa: E402
    NUMBERS,
    arguments,
    constant,
    expression,
    unwritable_object,
)
from golden_kernel_part import MODULE, KernelPart  # noqa: E402
from golden_shapes import ShapedArithmetic  # noqa: E402
from harness.imported.proxies import AUTOGRAD_CALLS, Launch, Made, leaves  # noqa: E402
from harness.imported.returned import Form, form_of, tensors_of  # noqa: E402
from harness.wire.tensors import NAMES  # noqa: E402
from torch.utils._pytree import tree_flatten  # noqa: E402


@dataclass
class Call:
    """One call. `why_not` is the reason why the call cannot be a case, or ""."""

    number: int
    function: str
    kind: type  # Launch or Made, or object for a call of a function
    args: Any
    kwargs: Any
    form: Form | None = None  # of what the call returned
    draws: list[Draw] = field(default_factory=list)  # the random tensors of the function's own
    # The positions of the arguments whose memory was passed to kernels. A position is an index of
    # `leaves`.
    touched: set[int] = field(default_factory=set)
    # The positions of the arguments whose values host code reads.
    structural: set[int] = field(default_factory=set)
    why_not: str = ""

    @property
    def leaves(self) -> list[Any]:
        return leaves((self.args, self.kwargs))

    @property
    def returned(self) -> list[tuple[str, list[int]]]:
        """The dtype and the shape of each tensor that the call returned."""
        return [] if self.form is None else tensors_of(self.form)

    @property
    def names(self) -> list[str]:
        """The name of each leaf in the operator's spec, or "" for a constant."""
        return [
            f"a{i}" if isinstance(leaf, torch.Tensor) or type(leaf) in NUMBERS else ""
            for i, leaf in enumerate(self.leaves)
        ]

    @property
    def text(self) -> str:
        """The call as Python text."""
        given = iter(list(zip(self.names, self.leaves, strict=True)))
        if self.kind is Launch:
            grid = expression(self.args[0], given)
            return f"{self.function}[{grid}]({arguments(self.args[1], self.kwargs, given)})"
        if self.kind is Made:
            made = arguments(self.args[0], self.args[1], given)
            return f"{self.function}({made})({arguments(self.args[2], self.kwargs, given)})"
        return f"{self.function}({arguments(self.args, self.kwargs, given)})"


class Tracer(KernelPart):
    """A kernel part that also collects the calls of its functions as Call objects."""

    latest: ClassVar[list[Call]] = []

    def __init__(self, *args: Any) -> None:
        self.traced = Tracer.latest
        super().__init__(*args)
        if self._arithmetic:
            self.runner.use_arithmetic(ShapedArithmetic(self._recorder))

    def seen(self) -> int:
        return len(self.traced)

    def may_be_helper(self, error: BaseException) -> bool:
        return super().may_be_helper(error) or (self._arithmetic and isinstance(error, Exception))

    def record(
        self, name: str, function: Callable[..., Any], args: Any, kwargs: Any, gradients: Any = None
    ) -> Any:
        if gradients is not None or not is_interface(name, function):
            return super().record(name, function, args, kwargs, gradients)
        kind = type(function) if isinstance(function, Launch | Made) else object
        call = Call(len(self.traced), name, kind, args, kwargs)
        self.traced.append(call)
        call.why_not = unwritable(call)
        with Draws() as draws:
            result = super().record(name, function, args, kwargs)
        call.draws = draws.found
        if not call.draws and not any(isinstance(leaf, torch.Tensor) for leaf in call.leaves):
            call.why_not = f"{name} is called without a tensor"
        if not self.calls[-1]["kernels"]:
            call.why_not = f"{name} launches no kernel"
        if draws.reads_generator:
            call.why_not = f"{name} reads the state of CUDA's random number generator"
        storages = {
            tensor.untyped_storage()._cdata: buffer for buffer, tensor in self._seen.items()
        }
        written = {
            self._recorder.record_of(fake).argument for fake in self._recorder.written_arguments()
        }
        structural = set(self.calls[-1]["structural"])
        for position, leaf in enumerate(call.leaves):
            if isinstance(leaf, torch.Tensor):
                buffer = storages.get(leaf.untyped_storage()._cdata)
                call.touched |= {position} if buffer in written else set()
                call.structural |= {position} if buffer in structural else set()
        call.form = form_of(result)
        if call.form is None:
            call.why_not = call.why_not or f"{name} returns a tensor of a type that no operator has"
        elif any(0 in shape for _, shape in call.returned):
            call.why_not = call.why_not or f"{name} returns an empty tensor"
        elif not call.returned and not call.touched - call.structural:
            call.why_not = call.why_not or f"{name} returns nothing and writes to no argument"
        return result


def is_interface(name: str, function: Any) -> bool:
    """Returns True if the use of a proxy is a call (harness/imported/proxies.py)."""
    if isinstance(function, Launch | Made):
        return True
    owner = getattr(function, "__self__", None)
    is_apply = isinstance(owner, type) and owner.__module__ == MODULE
    in_module = getattr(function, "__module__", None) == MODULE and not isinstance(function, type)
    return is_apply or (in_module and ("." not in name or name.endswith(AUTOGRAD_CALLS)))


def unwritable(call: Call) -> str:
    """Returns the reason why the call's arguments cannot be those of a case, or "" if they can."""
    for value in tree_flatten((call.args, call.kwargs))[0]:
        if unwritable_object(value):
            return f"{call.function} is called with a {type(value).__name__}"
    for leaf in call.leaves:
        if isinstance(leaf, torch.Tensor):
            if leaf.dtype not in NAMES:
                return f"{call.function} is called with a tensor of {leaf.dtype}"
            if 0 in leaf.shape:
                return f"{call.function} is called with an empty tensor"
        elif type(leaf) not in NUMBERS and constant(leaf) is None:
            return f"{call.function} is called with a {type(leaf).__name__}"
    return ""


def form(call: Call) -> tuple[Any, ...]:
    """Returns the form of the call: the properties that all calls of one operator share."""
    kinds = [
        f"{NAMES[leaf.dtype]} {leaf.dim()}"
        if isinstance(leaf, torch.Tensor)
        else NUMBERS.get(type(leaf), "")
        for leaf in call.leaves
    ]
    return (
        call.text,
        tuple(kinds),
        tuple((draw[2], len(draw[1])) for draw in call.draws),
        tuple((dtype, len(shape)) for dtype, shape in call.returned),
        tuple(sorted(call.touched - call.structural)),
    )


def groups(calls: list[Call]) -> Iterator[list[Call]]:
    """Yields the groups of calls that have the same form, in the order of each group's first
    call."""
    found: dict[tuple[Any, ...], list[Call]] = {}
    for call in calls:
        if not call.why_not and call.form is not None:
            found.setdefault(form(call), []).append(call)
    yield from found.values()


def trace(
    path: Path, target: str, cache: Path | None, arithmetic: bool
) -> tuple[list[Call], dict[str, Any]]:
    """Returns the calls that the file's test part makes, and the report of golden_file.run(). This
    function can be called only once in a process."""
    Tracer.latest = []
    report = golden_file.run(path, target, None, cache, arithmetic, Tracer)
    return Tracer.latest, report
