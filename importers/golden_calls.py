"""Collects the calls that a golden file's test part makes of its kernel part, and decides which of
them can be cases of an operator.

    calls = trace(path, target, cache) # runs the file on a recorder that allows torch arithmetic
    for group in groups(calls): # each group has calls of one form and becomes one operator
        print(len(group))

A call can be a case if it meets three conditions. First, the called function (or the `apply` of an
autograd.Function) launches a kernel. Second, the tensors among the arguments share no memory.
Third, every other argument is a number, or a constant that can be written as Python. Calls of one
form have the same function, structure, constants, dtypes and ranks. They differ only in shapes and
numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "sandbox"))

import golden_file  # noqa: E402
import torch  # noqa: E402
from golden_kernel_part import MODULE, KernelPart  # noqa: E402
from harness.wire.tensors import NAMES  # noqa: E402
from torch.utils._pytree import tree_flatten  # noqa: E402

NUMBERS = {int: "int", float: "float", bool: "bool"}


@dataclass
class Call:
    """One call. `why_not` is the reason why the call cannot be a case, or ""."""

    number: int
    function: str
    args: Any
    kwargs: Any
    returned: list[tuple[str, list[int]]] | None = None  # dtype and shape of each tensor
    # The positions of the arguments whose memory was passed to kernels. A position is an index of
    # `leaves`.
    touched: set[int] = field(default_factory=set)
    # The positions of the arguments whose values host code reads.
    structural: set[int] = field(default_factory=set)
    why_not: str = ""

    @property
    def leaves(self) -> list[Any]:
        return tree_flatten((self.args, self.kwargs))[0]


class Tracer(KernelPart):
    """A kernel part that also collects the calls of its functions as Call objects."""

    latest: ClassVar[list[Call]] = []

    def __init__(self, *args: Any) -> None:
        self.traced = Tracer.latest
        super().__init__(*args)

    def record(
        self, name: str, function: Callable[..., Any], args: Any, kwargs: Any, gradients: Any = None
    ) -> Any:
        if gradients is not None or not is_interface(name, function):
            return super().record(name, function, args, kwargs, gradients)
        call = Call(len(self.traced), name, args, kwargs)
        self.traced.append(call)
        call.why_not = unwritable(call)
        result = super().record(name, function, args, kwargs)
        if not self.calls[-1]["kernels"]:
            call.why_not = f"{name} launches no kernel"
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
        tensors = [x for x in tree_flatten(result)[0] if isinstance(x, torch.Tensor)]
        call.returned = (
            [(NAMES[x.dtype], list(x.shape)) for x in tensors]
            if all(x.dtype in NAMES for x in tensors)
            else None
        )
        if call.returned is None:
            call.why_not = call.why_not or f"{name} returns a tensor of a type that no operator has"
        elif any(0 in shape for _, shape in call.returned):
            call.why_not = call.why_not or f"{name} returns an empty tensor"
        elif not call.returned and not call.touched - call.structural:
            call.why_not = call.why_not or f"{name} returns nothing and writes to no argument"
        return result


def is_interface(name: str, function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    is_apply = isinstance(owner, type) and owner.__module__ == MODULE
    return is_apply or (
        getattr(function, "__module__", None) == MODULE
        and "." not in name
        and not isinstance(function, type)
    )


def unwritable(call: Call) -> str:
    """Returns the reason why the call's arguments cannot be those of a case, or "" if they can."""
    seen: set[int] = set()
    for leaf in call.leaves:
        if isinstance(leaf, torch.Tensor):
            storage = leaf.untyped_storage()._cdata
            if storage in seen:
                return f"{call.function} is called with tensors that share memory"
            seen.add(storage)
            if leaf.dtype not in NAMES:
                return f"{call.function} is called with a tensor of {leaf.dtype}"
            if 0 in leaf.shape:
                return f"{call.function} is called with an empty tensor"
        elif type(leaf) not in NUMBERS and constant(leaf) is None:
            return f"{call.function} is called with a {type(leaf).__name__}"
    if not seen:
        return f"{call.function} is called without a tensor"
    return ""


def constant(value: Any) -> str | None:
    """Returns a Python expression for the value, or None if there is no such expression."""
    if value is None or isinstance(value, str):
        return repr(value)
    if isinstance(value, torch.dtype):
        return str(value)
    if isinstance(value, torch.device):
        return f"torch.device({str(value)!r})"
    if isinstance(value, torch.Size):
        return f"torch.Size({list(value)})"
    return None


def form(call: Call) -> tuple[Any, ...]:
    """Returns the form of the call: the properties that all calls of one operator share."""
    kinds: list[str] = []
    for leaf in call.leaves:
        if isinstance(leaf, torch.Tensor):
            kinds.append(f"{NAMES[leaf.dtype]} {leaf.dim()}")
        else:
            kinds.append(NUMBERS.get(type(leaf)) or str(constant(leaf)))
    assert call.returned is not None
    outputs = tuple((dtype, len(shape)) for dtype, shape in call.returned)
    return (
        call.function,
        str(tree_flatten((call.args, call.kwargs))[1]),
        tuple(kinds),
        outputs,
        tuple(sorted(call.touched - call.structural)),
    )


def groups(calls: list[Call]) -> Iterator[list[Call]]:
    """Yields the groups of calls that have the same form, in the order of each group's first
    call."""
    found: dict[tuple[Any, ...], list[Call]] = {}
    for call in calls:
        if not call.why_not:
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
