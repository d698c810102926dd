"""Makes an operator from a function that a caller sent. `assay check` and the tool `check` compare
a kernel with this function.

    reference = OwnReference(Reference("swish", source, arguments, None))
    case = reference.case(wire, "cpu")
    expected = reference.expected(case, reference.inputs(case, seed=1))

Nobody but its author trusts the source, so only a jailed process uses this module
(judging/reference_judge.py). There is no spec of the outputs. Their number, dtypes and shapes are
those of the reference's first run. An argument that the reference writes to is `inout`. Every error
of the reference's code is a ReferenceFailed, whose message names the line."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from harness.entry.time_limit import TimeIsUp
from harness.operator.cases import Case, Cost, Rng
from harness.operator.operator import Arguments, Operator, is_floating
from harness.operator.spec import Argument, Baseline, OperatorError, Output, extent, shape_of
from harness.wire.tensors import DTYPES, MAX_RANK, NAMES, name_of

FILE = "<reference>"  # the file name in the reference's tracebacks
MESSAGE_CHARS = 600
SHOWN_NAMES = 20
# The integers that an argument gets if the caller names no range: from the first number up to, but
# not including, the second.
INTEGERS: dict[torch.dtype, tuple[int, int]] = {
    torch.int8: (-128, 128),
    torch.uint8: (0, 256),
    torch.int16: (-1000, 1000),
    torch.int32: (-1000, 1000),
    torch.int64: (-1000, 1000),
}


class ReferenceFailed(OperatorError):
    """The caller's reference is wrong, or it cannot be a reference."""


@dataclass(frozen=True)
class OwnArgument:
    """One argument of a check. `low`, `high` and a scalar's `value` are numbers, or products of
    numbers and axes."""

    name: str
    type: str
    dtype: str
    shape: tuple[str, ...]
    distribution: str
    low: str
    high: str
    value: str


@dataclass(frozen=True)
class Reference:
    entry: str
    source: str
    arguments: tuple[OwnArgument, ...]
    tolerance: float | None  # None: it depends on the dtype of each output


@dataclass(frozen=True)
class Form:
    """The form of one output in one case."""

    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    source: str  # the argument that becomes this output, or ""


class OwnReference(Operator):
    """The operator that a caller's reference defines (see the module's docstring)."""

    def __init__(self, reference: Reference) -> None:
        self.folder = Path(FILE)
        self.spec = {}
        self.name = reference.entry
        # An answer may equal an argument bit for bit, as that of an imported operator.
        self.imported = True
        self.baseline = Baseline.TORCH_EAGER
        self.is_golden = False
        self.is_layout = False
        self.adversaries = []
        self.indistinguishable = []
        self.tolerance = reference.tolerance
        self._given = reference.arguments
        self._source = reference.source
        self._forms: dict[str, list[Form]] = {}
        self._function = self._load(reference.entry)
        # What the timing of references calls. It may change its arguments.
        self.module = ModuleType("reference")
        self.module.reference = lambda **named: self._function(*named.values())  # type: ignore[attr-defined]
        self.arguments = [
            Argument(one.name, one.type, one.dtype, one.shape, "input") for one in self._given
        ]
        self.outputs = []

    def inputs(self, case: Case, seed: int) -> Arguments:
        rng = Rng(seed, case.device)
        return {one.name: _value(one, case, rng) for one in self._given}

    def shapes(self, case: Case) -> Arguments | None:
        """Returns the arguments without values. The first call for a case runs the reference once,
        to find the form of its outputs."""
        self._learn(case)
        return {
            one.name: torch.empty(
                shape_of(one.shape, case.axes), dtype=DTYPES[one.dtype], device="meta"
            )
            if one.type == "tensor"
            else _scalar(one, case)
            for one in self._given
        }

    def reference(self, arguments: Arguments) -> list[torch.Tensor]:
        """Returns the outputs in the order of `self.outputs`. Does not change the arguments."""
        returned, changed = self._call(arguments)
        plain = [] if self._is_in_place(returned, changed) else returned
        return [value.clone() for value in plain] + list(changed.values())

    def expected(self, case: Case, arguments: Arguments) -> list[torch.Tensor]:
        self._learn(case)
        outputs = self.reference(arguments)
        forms = [(form.dtype, form.shape) for form in self._forms[case.id]]
        if [(value.dtype, tuple(value.shape)) for value in outputs] != forms:
            raise ReferenceFailed(
                f"case {case.id}: the outputs of {self.name} have other shapes or dtypes for other "
                "values of the inputs; a check needs outputs whose form depends on the shapes only"
            )
        return outputs

    def in_float64(self, arguments: Arguments) -> list[torch.Tensor] | None:
        """Returns the outputs for arguments in float64. Returns None if the reference cannot
        compute them, because a reference may require the dtypes of its inputs."""
        if not any(is_floating(value) for value in arguments.values()):
            return None
        wide = {
            k: value.double() if is_floating(value) else value for k, value in arguments.items()
        }
        try:
            outputs = self.reference(wide)
        except ReferenceFailed:
            return None
        return outputs if len(outputs) == len(self.outputs) else None

    def open_elements(self, expected: Any, arguments: Arguments) -> list[torch.Tensor]:
        return []

    def with_output_axes(self, case: Case, arguments: Arguments) -> Case:
        self._learn(case)
        return case

    def output_shape(self, output: Output, case: Case) -> list[int]:
        self._learn(case)
        return [list(form.shape) for form in self._forms[case.id] if form.name == output.name].pop()

    def named_axes(self, case: Case) -> dict[str, int]:
        return dict(case.axes)

    def scale(self, output: Output, case: Case) -> float:
        return 1.0

    def cost(self, case: Case) -> Cost:
        """Returns the bytes of all arguments and outputs. A kernel may need fewer, so a time is
        never compared with this number."""
        arguments = self.shapes(case) or {}
        moved = sum(
            value.numel() * value.element_size()
            for value in arguments.values()
            if isinstance(value, torch.Tensor)
        )
        for form in self._forms[case.id]:
            moved += torch.empty(form.shape, dtype=form.dtype, device="meta").nbytes
        return Cost(bytes=moved, flops=0)

    def _load(self, entry: str) -> Callable[..., Any]:
        linecache.cache[FILE] = (
            len(self._source),
            None,
            self._source.splitlines(keepends=True),
            FILE,
        )
        module: dict[str, Any] = {"__name__": "reference"}
        self._guard(lambda: exec(compile(self._source, FILE, "exec"), module))
        found = module.get(entry)
        if callable(found):
            return found  # type: ignore[no-any-return]
        names = [
            name
            for name, value in module.items()
            if callable(value) and getattr(value, "__module__", "") == "reference"
        ]
        listed = ", ".join(sorted(names)[:SHOWN_NAMES]) or "no function"
        raise ReferenceFailed(f"it does not define `{entry}`; it defines {listed}")

    def _guard(self, run: Callable[[], Any]) -> Any:
        try:
            return run()
        except ReferenceFailed:
            raise
        except BaseException as error:
            raise ReferenceFailed(_described(error, self._source)) from error

    def _call(self, arguments: Arguments) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
        """Calls the reference with copies of the arguments. Returns the returned tensors, and the
        arguments that it wrote to."""
        copies = {
            name: value.clone() if isinstance(value, torch.Tensor) else value
            for name, value in arguments.items()
        }
        tensors = {k: value for k, value in copies.items() if isinstance(value, torch.Tensor)}
        before = {name: value._version for name, value in tensors.items()}

        def run() -> list[Any]:
            with torch.no_grad():
                returned = self._function(*copies.values())
            if returned is None:
                return []
            return list(returned) if isinstance(returned, tuple | list) else [returned]

        returned = self._guard(run)
        changed = {k: value for k, value in tensors.items() if value._version != before[k]}
        self._check_returned(returned, changed, next(iter(tensors.values()), None))
        return returned, changed

    def _check_returned(
        self, returned: list[Any], changed: dict[str, Any], some: torch.Tensor | None
    ) -> None:
        if not returned and not changed:
            raise ReferenceFailed(
                f"{self.name} returned nothing and changed no argument; return a tensor or a tuple "
                "of tensors"
            )
        for value in returned:
            if not isinstance(value, torch.Tensor):
                raise ReferenceFailed(
                    f"{self.name} returned a {type(value).__name__}; return a tensor or a tuple of "
                    "tensors"
                )
            if value.dtype not in NAMES or value.dim() > MAX_RANK:
                raise ReferenceFailed(
                    f"{self.name} returned {name_of(value.dtype)} with {value.dim()} dimensions; an "
                    f"output has at most {MAX_RANK}, and one of {', '.join(DTYPES)}"
                )
            if some is not None and value.device.type != some.device.type:
                raise ReferenceFailed(
                    f"{self.name} returned a tensor on {value.device}; its inputs are on {some.device}"
                )

    @staticmethod
    def _is_in_place(returned: list[torch.Tensor], changed: dict[str, torch.Tensor]) -> bool:
        """Returns True if nothing is returned except arguments that were written to."""
        return all(any(value is other for other in changed.values()) for value in returned)

    def _learn(self, case: Case) -> None:
        """Finds the forms of the outputs of a case. All cases must have the same outputs."""
        if case.id in self._forms:
            return
        returned, changed = self._call(self.inputs(case, 0))
        plain = [] if self._is_in_place(returned, changed) else returned
        names = ["out"] if len(plain) == 1 else [f"out{i}" for i in range(len(plain))]
        forms = [Form(n, v.dtype, tuple(v.shape), "") for n, v in zip(names, plain, strict=True)]
        forms += [Form(n, v.dtype, tuple(v.shape), n) for n, v in changed.items()]
        outputs = [
            Output(form.name, name_of(form.dtype), (), 0.0, 1, False, form.source) for form in forms
        ]
        if self._forms and outputs != self.outputs:
            raise ReferenceFailed(
                f"{self.name} has other outputs in case {case.id} than in the first case: their "
                "number, dtypes and the arguments that it changes must be the same"
            )
        self._forms[case.id] = forms
        self.outputs = outputs
        self.arguments = [
            replace(one, role="inout") if one.name in changed else one for one in self.arguments
        ]


def _described(error: BaseException, source: str) -> str:
    """Returns the error and the last line of the reference that took part in it."""
    kind = "timeout" if isinstance(error, TimeIsUp) else type(error).__name__
    text = f"{kind}: {error}"[:MESSAGE_CHARS]
    if isinstance(error, SyntaxError):
        text, line = f"{kind}: {error.msg}", error.lineno
    else:
        lines = [
            one.lineno for one in traceback.extract_tb(error.__traceback__) if one.filename == FILE
        ]
        line = lines[-1] if lines else None
    rows = source.splitlines()
    if line is None or not 0 < line <= len(rows):
        return text
    return f"line {line}, `{rows[line - 1].strip()[:200]}`: {text}"


def _scalar(one: OwnArgument, case: Case) -> int | float | bool:
    if one.type == "bool":
        return one.value == "true"
    value = extent(one.value, case.axes)
    return int(value) if one.type == "int" else float(value)


def _value(one: OwnArgument, case: Case, rng: Rng) -> Any:
    """Returns a new value of an argument."""
    if one.type != "tensor":
        return _scalar(one, case)
    shape, dtype = shape_of(one.shape, case.axes), DTYPES[one.dtype]
    low, high = (extent(text, case.axes) if text else None for text in (one.low, one.high))
    count = 1
    for size in shape:
        count *= size
    if one.distribution == "zeros":
        return torch.zeros(shape, dtype=dtype, device=case.device)
    if one.distribution == "ones":
        return torch.ones(shape, dtype=dtype, device=case.device)
    if one.distribution == "arange":
        return torch.arange(count, device=case.device).reshape(shape).to(dtype)
    if one.distribution == "perm":
        return rng.permutation(count).reshape(shape).to(dtype)
    if one.distribution == "offsets":
        return _offsets(count, int(high or 0), rng).reshape(shape).to(dtype)
    if dtype is torch.bool:
        return rng.integers(shape, 0, 2).to(dtype)
    if one.distribution == "uniform":
        return rng.uniform(shape, dtype, float(low or 0), float(1 if high is None else high))
    if one.distribution == "range" or not dtype.is_floating_point:
        first, end = INTEGERS.get(dtype, (0, 2))
        first, end = int(first if low is None else low), int(end if high is None else high)
        if first >= end:
            raise ReferenceFailed(
                f"input {one.name}: range({first}, {end}) has no integer in case {case.id}"
            )
        return rng.integers(shape, first, end, dtype)
    return rng.normal(shape, dtype)


def _offsets(count: int, end: int, rng: Rng) -> torch.Tensor:
    """Returns the offsets of count - 1 segments of `end` elements: sorted, from 0 to `end`."""
    made = rng.integers((count,), 0, end + 1).sort().values
    if count:
        made[0], made[-1] = 0, end
    return made
