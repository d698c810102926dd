"""Defines the names that a manifest's expressions can use in one case, and the buffer of each
tensor in the plan.

    names = CaseNames(manifest, case_input, plan, "cuda:90")
    names.number(expression)  # raises ManifestError with the expression's place and line
    names.buffers["x"].index  # in the plan

Arguments and returned outputs have their names from the spec. An in-place output has the name of
its argument. The manifest defines further names: sizes and temporary buffers (scratch)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.cuda_cpp.expressions import (
    MAX_INTEGER,
    ExpressionError,
    Number,
    TensorFacts,
    Value,
    evaluate,
)
from harness.cuda_cpp.manifest import Expression, Manifest
from harness.entry.cases import CaseInput
from harness.entry.errors import ManifestError
from harness.entry.fake_cuda import device_facts
from harness.recording.plan import BufferKind, Plan
from harness.wire.argument import scalar_value
from harness.wire.tensors import dtype_from, span_bytes

ROUND = "round"  # inside a repeated launch, the number of the repetition
MULTIPROCESSORS = "multiprocessors"
Names = Mapping[str, Value]
Dims = tuple[int, int, int]


@dataclass(frozen=True)
class Buffer:
    index: int
    nbytes: int
    facts: TensorFacts


def dense(dtype: str, shape: Sequence[int]) -> TensorFacts:
    """Returns the facts about a contiguous tensor with this dtype and shape."""
    strides = [1] * len(shape)
    for dim in range(len(shape) - 2, -1, -1):
        strides[dim] = strides[dim + 1] * max(shape[dim + 1], 1)
    return TensorFacts(dtype, dtype_from(dtype).itemsize, tuple(shape), tuple(strides))


class CaseNames:
    """The names of one case, with their values (see the module's docstring)."""

    def __init__(self, manifest: Manifest, case: CaseInput, plan: Plan, target: str) -> None:
        self._plan = plan
        self.target = target
        self.buffers: dict[str, Buffer] = {}
        self.fillable: list[str] = []  # names of outputs and of scratch buffers
        self.outputs: list[Buffer] = []
        self.values: dict[str, Value] = {
            MULTIPROCESSORS: int(device_facts(target).multi_processor_count),
            **case.axes,
        }
        self._add_arguments(case)
        self._add_outputs(case)
        for name, expression in manifest.sizes.items():
            self._define(name, self.number(expression), expression)
        for name, scratch in manifest.scratch.items():
            facts = dense(scratch.dtype, [self.extent(expression) for expression in scratch.shape])
            if facts.nbytes > MAX_INTEGER:
                raise wrong(
                    "value_error",
                    f"{list(facts.shape)} needs more than 64 bits of bytes",
                    scratch.shape[0],
                )
            self._define(name, facts, scratch.shape[0])
            self._add(name, facts, BufferKind.SCRATCH, facts.nbytes)

    def number(self, expression: Expression, names: Names | None = None) -> Number:
        try:
            return evaluate(expression.text, self.values if names is None else names)
        except ExpressionError as error:
            raise wrong(error.kind, str(error), expression) from None

    def extent(self, expression: Expression, names: Names | None = None, low: int = 0) -> int:
        value = self.number(expression, names)
        if isinstance(value, float) or value < low:
            raise wrong(
                "value_error",
                f"{expression.text} is {value}; want an integer from {low} up",
                expression,
            )
        return int(value)

    def dims(self, expressions: Sequence[Expression], names: Names, limits: Dims, low: int) -> Dims:
        """Evaluates one to three extents. Each must be at least `low` and at most its limit. A
        missing extent is 1."""
        values = [self.extent(expression, names, low) for expression in expressions]
        for value, limit, expression in zip(values, limits, expressions, strict=False):
            if value > limit:
                raise wrong(
                    "value_error",
                    f"{expression.text} is {value}; the limits are {list(limits)}",
                    expression,
                )
        x, y, z = (*values, 1, 1)[:3]
        return x, y, z

    def _add_arguments(self, case: CaseInput) -> None:
        for wire in case.arguments:
            name = str(wire["name"])
            if wire["kind"] == "scalar":
                self.values[name] = scalar_value(wire)
                continue
            facts = TensorFacts(
                str(wire["dtype"]),
                dtype_from(wire["dtype"]).itemsize,
                tuple(wire["shape"]),
                tuple(wire["strides"]),
            )
            self._add(
                name,
                facts,
                BufferKind.INPUT,
                span_bytes(facts.shape, facts.strides, facts.itemsize),
            )

    def _add_outputs(self, case: CaseInput) -> None:
        for output in case.output_tensors:
            name, source = str(output["name"]), output.get("from")
            if not source:
                facts = dense(str(output["dtype"]), output["shape"])
                self._add(name, facts, BufferKind.SCRATCH, facts.nbytes)
            self.outputs.append(self.buffers[str(source) if source else name])

    def _add(self, name: str, facts: TensorFacts, kind: BufferKind, nbytes: int) -> None:
        self.buffers[name] = Buffer(
            self._plan.buffer(kind, nbytes, name if kind == BufferKind.INPUT else ""), nbytes, facts
        )
        self.values[name] = facts
        if kind == BufferKind.SCRATCH:
            self.fillable.append(name)

    def _define(self, name: str, value: Value, at: Expression) -> None:
        if name in (*self.values, ROUND):
            raise wrong(
                "value_error",
                f"the name {name} is taken; taken are {', '.join(sorted((*self.values, ROUND)))}",
                at,
            )
        self.values[name] = value


def wrong(kind: str, message: str, at: Expression) -> ManifestError:
    """Returns the error for a mistake in the manifest. The error names the position of the
    mistake."""
    return ManifestError(kind, f"{at.where}: {message}", at.line)
