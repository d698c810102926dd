"""Keeps the judge's state for one case: the seed, the inputs, the expected outputs, and the replies
to `describe`, `prepare` and `compare`.

    described = CaseState(operator, case, operator.shapes(case))
    fd, wire = described.prepared(structural_only=True, position=0)
    state = CaseState(operator, case)
    fd, wire = state.prepared(structural_only=False, position=0)
    result = state.compare(outputs, outputs_fd)"""

from __future__ import annotations

import copy
import hashlib
import math
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from harness.judging.attribution import computed_by_torch, equals_an_argument, unattributed
from harness.judging.compare import Result, Yardstick, compare, yardsticks
from harness.judging.device_room import has_room_for_float64
from harness.judging.fitted_rules import fitted_rules
from harness.judging.rules import rules_for, scaled_rules
from harness.judging.shared_buffers import place
from harness.judging.sizes import (
    AHEAD_BYTES,
    bytes_of,
    bytes_of_rule,
    layout_of,
    output_bytes,
    span_of,
)
from harness.judging.wrong import Before
from harness.operator import Case, Operator
from harness.operator.own_reference import OwnReference
from harness.wire.argument import scalar_wire
from harness.wire.poison import fill_poison
from harness.wire.tensors import (
    ALIGNMENT,
    MappedFile,
    Memory,
    aligned,
    make_memfd,
    name_of,
    pack,
    span_view,
)

SEED_BYTES = 7  # this many bytes make a positive int64


def seed_of(text: str, case_id: str) -> int:
    """Returns the seed of a case. It is random if `text` is empty."""
    if not text:
        return int.from_bytes(os.urandom(SEED_BYTES), "little")
    digest = hashlib.sha256(f"{text} {case_id}".encode()).digest()
    return int.from_bytes(digest[:SEED_BYTES], "little")


class CaseState:
    """The state of one case. Only the judge uses it."""

    def __init__(
        self,
        operator: Operator,
        case: Case,
        shapes: dict[str, Any] | None = None,
        seed_text: str = "",
    ) -> None:
        """Draws inputs from a new seed. If `shapes` is given, draws no inputs, and the state has
        the arguments `shapes`, which have no values. If `seed_text` is given, the seed follows from
        it and from the case, so that several jobs get the same inputs."""
        self.operator = operator
        self.seed = seed_of(seed_text, case.id)
        self.fixed = shapes is not None  # True if nothing in the state depends on the seed
        self.arguments = operator.inputs(case, self.seed) if shapes is None else shapes
        self.case = case if self.fixed else operator.with_output_axes(case, self.arguments)
        self.rules = rules_for(operator, self.case)
        self._expected: list[torch.Tensor] | None = None
        self._float64: list[torch.Tensor] | None = None
        self._yardsticks: list[Yardstick | None] = []
        self._open: list[torch.Tensor] = []  # true at elements that are exempt from checking
        self._strict = True
        # What run_reference() calls, with its arguments.
        self._timed: tuple[Callable[..., Any], list[Any]] | None = None
        self._output: torch.Tensor | None = None  # the memory for outputs in the shared buffers
        # Copies of the outputs that compare() kept for attribute_kept().
        self._kept: list[torch.Tensor] = []
        self._inputs: dict[str, torch.Tensor] = {}  # the bytes of the inputs in the shared buffers
        # Only harness.judging.timed_rounds fills these lists: the next inputs, and earlier outputs.
        self.drawn: list[CaseState] = []
        self.aside: list[tuple[CaseState, list[dict[str, Any]]]] = []

    def tensors(self) -> list[tuple[str, torch.Tensor]]:
        return [
            (name, value)
            for name, value in self.arguments.items()
            if isinstance(value, torch.Tensor)
        ]

    def output_bytes(self) -> int:
        """Returns the size of the memory for the outputs, in bytes."""
        return output_bytes(
            self.rules, [self.arguments.get(one.source or "") for one in self.operator.outputs]
        )

    def device_bytes(self) -> int:
        """Returns the number of bytes that this case needs in the shared buffers."""
        return place([span_view(value).numel() for _, value in self.tensors()], ALIGNMENT)[
            1
        ] + aligned(self.output_bytes())

    def fill(self, memory: torch.Tensor, offset: int) -> dict[str, Any]:
        """Copies the inputs into the shared buffers at `offset`. The memory for outputs follows the
        inputs and is filled with a poison value. Returns the offsets of inputs and outputs."""
        spans = [(name, span_view(value)) for name, value in self.tensors()]
        offsets, used = place([span.numel() for _, span in spans], ALIGNMENT)
        self._inputs = {
            name: memory[offset + at : offset + at + span.numel()]
            for (name, span), at in zip(spans, offsets, strict=True)
        }
        for name, span in spans:
            self._inputs[name].copy_(span)
        self._output = memory[offset + used : offset + used + self.output_bytes()]
        fill_poison(self._output)
        inputs = [
            {"name": name, "offset": offset + at}
            for (name, _), at in zip(spans, offsets, strict=True)
        ]
        return {"inputs": inputs, "output_offset": offset + used}

    def copied_bytes(self) -> int:
        """Returns the number of bytes of the inputs, with their gaps, and of right outputs."""
        return sum(span_of(value) for _, value in self.tensors()) + sum(
            map(bytes_of_rule, self.rules)
        )

    def prepared(self, structural_only: bool, position: int) -> tuple[int, dict[str, Any]]:
        """Returns the sealed memfd of the inputs, and the element of the `prepared` message for
        this case. The memfd contains the bytes of all tensors, or only those of the structural
        tensors. `position` is the index of the memfd in the message."""
        roles = {argument.name: argument.role for argument in self.operator.arguments}
        tensors = self.tensors()
        with_bytes = [
            (name, value)
            for name, value in tensors
            if roles[name] == "structural" or not structural_only
        ]
        fd, wires = make_memfd("assay-inputs", with_bytes)
        entry = self.description({wire["name"]: {**wire, "fd": position} for wire in wires})
        cost = self.operator.cost(self.case)
        return fd, {
            **entry,
            "structural": [name for name, role in roles.items() if role == "structural"],
            "inout": [name for name, role in roles.items() if role == "inout"],
            "axes": self.operator.named_axes(self.case),
            "layout": self.operator.is_layout,
            "output_bytes": self.output_bytes(),
            "input_fd": position,
            "seed": f"{self.seed:#x}",
            "fixed": self.fixed,
            "cost": {"bytes": float(cost.bytes), "flops": float(cost.flops)},
        }

    def description(self, placed: dict[str, dict[str, Any]] | None = None) -> dict[str, Any]:
        """Returns the id, the arguments and the outputs of the case, as in the `prepared` message.
        `placed` contains the descriptors of the arguments whose bytes are sent."""
        wires = {wire["name"]: wire for wire in pack(self.tensors())[0]} | (placed or {})
        return {
            "id": self.case.id,
            "arguments": [
                wires[name] if name in wires else scalar_wire(name, value)
                for name, value in self.arguments.items()
            ],
            "outputs": [self._described(position) for position in range(len(self.rules))],
        }

    def compute_ahead(self) -> None:
        """Computes the references before they are needed, unless they would take much memory."""
        given = sum(bytes_of(value) for _, value in self.tensors())
        size = given + sum(map(bytes_of_rule, self.rules))
        if not self.operator.imported or size <= AHEAD_BYTES:
            self.compute_references()

    def fresh(self, strict: bool = True) -> CaseState:
        """Returns a new state for the same case, with a new seed. The scalar arguments keep their
        values. If `strict` is false, outputs are compared without the strict rule. The tolerances
        of a check need the computations of the strict rule."""
        other = CaseState(self.operator, self.case)
        other._strict = strict or isinstance(self.operator, OwnReference)
        other.arguments |= {
            name: value
            for name, value in self.arguments.items()
            if not isinstance(value, torch.Tensor)
        }
        return other

    def refresh(self) -> str:
        """Draws inputs from a new seed into the shared buffers, and returns the seed as text. If
        there are no shared buffers, or if the layout of a new input differs from the layout of the
        old input, changes nothing and returns "". Structural inputs are not replaced, because the
        recording depends on them. If an imported operator has structural inputs, no input is
        replaced, because the other inputs may depend on them.

        After this call, outputs are compared only with the reference, without the strict rule. The
        strict rule checks an algorithm's accuracy, which the first inputs have already tested. Its
        float64 computations would take several times as long as the timed work. The comparison with
        the reference still finds outputs that belong to earlier inputs."""
        if not self.can_refresh():
            return ""
        other = self.drawn.pop() if self.drawn else self.fresh()
        other.arguments |= {name: self.arguments[name] for name in self._structural()}
        if [layout_of(value) for _, value in other.tensors()] != [
            layout_of(value) for _, value in self.tensors()
        ]:
            return ""
        self.seed, self.arguments = other.seed, other.arguments
        self.forget_references()
        self._timed = None
        self._strict = False
        for name, value in self.tensors():
            self._inputs[name].copy_(span_view(value))
        return f"{self.seed:#x}"

    def _structural(self) -> list[str]:
        arguments = self.operator.arguments
        return [argument.name for argument in arguments if argument.role == "structural"]

    def can_refresh(self) -> bool:
        return bool(self._inputs) and not (self._structural() and self.operator.imported)

    def judge(self, outputs: list[torch.Tensor], poisoned: bool = False) -> Result:
        """Judges outputs. The result is `output_mismatch` if the number, the dtypes or the shapes
        of the outputs differ from the spec. `poisoned` says that memory that no kernel stores to
        has the poison."""
        self.compute_references()
        assert self._expected is not None
        return compare(
            self.rules,
            self._expected,
            outputs,
            self._float64,
            self._yardsticks,
            self._open,
            self._before(poisoned),
        )

    def _before(self, poisoned: bool) -> Before:
        """Returns what the memory of the outputs had before the kernels ran."""
        given = dict(self.tensors())
        return Before(
            poisoned,
            [given.get(o.source or "") for o in self.operator.outputs],
            list(given.items()),
        )

    def _described(self, position: int) -> dict[str, Any]:
        rule, source = self.rules[position], self.operator.outputs[position].source
        return {
            "name": rule.name,
            "dtype": name_of(rule.dtype),
            "shape": rule.shape,
            "nbytes": bytes_of_rule(rule),
            "from": source or None,
        }

    def compute_references(self) -> None:
        """Computes everything that a comparison needs. If the operator's reference raises an error,
        raises that error."""
        if self._expected is None:
            self._float64 = self._in_float64() if self._strict else None
            expected = self.operator.expected(self.case, self.arguments)
            if isinstance(self.operator, OwnReference):
                self.rules = fitted_rules(
                    self.operator.tolerance, self.rules, expected, self._float64
                )
            self.rules = scaled_rules(self.operator, self.rules, expected)
            self._open = self.operator.open_elements(expected, self.arguments)
            self._yardsticks = yardsticks(self.rules, expected, self._float64, self._open)
            self._expected = expected

    def forget_references(self) -> None:
        """Frees the memory of what compute_references() has computed."""
        self._expected, self._float64, self._yardsticks, self._open = None, None, [], []

    def with_copied_outputs(self) -> CaseState:
        """Returns a state with the same inputs and with a copy of the outputs in the shared buffers.
        refresh() gives this state other inputs, but does not change the tensors."""
        kept = copy.copy(self)
        kept.forget_buffers()
        with self._outputs(None) as memory:
            kept._output = memory.bytes(0, memory.size).clone()
        kept.drawn, kept.aside = [], []
        return kept

    def forget_buffers(self) -> None:
        """The shared buffers are no longer those of this case."""
        self._output, self._inputs = None, {}

    def needs_no_kernel(self) -> bool:
        """Returns True if the right outputs of an imported operator equal its arguments, so that they
        are right without any work (attribution.py)."""
        if not self.operator.imported:
            return False
        self.compute_references()
        assert self._expected is not None
        masks = self._open or [torch.zeros_like(x, dtype=torch.bool) for x in self._expected]
        given = [value for _, value in self.tensors()]
        return all(map(partial(equals_an_argument, given), self._expected, masks))

    def _in_float64(self) -> list[torch.Tensor] | None:
        """Returns the reference in float64, for the strict rule. An imported case may be so large
        that the device has no memory for it, beside a submission. Such a case is judged without the
        strict rule, which is about an algorithm's accuracy, and decides no outcome."""
        elements = sum(value.numel() for _, value in self.tensors()) + sum(
            math.prod(rule.shape) for rule in self.rules
        )
        if self.operator.imported and not has_room_for_float64(self.case.device, elements):
            return None
        try:
            return self.operator.in_float64(self.arguments)
        except torch.cuda.OutOfMemoryError:
            if not self.operator.imported:
                raise
        torch.cuda.empty_cache()  # after the exception, which holds tensors
        return None

    def compare(self, wires: list[dict[str, Any]], fd: int | None, keep: bool = False) -> Result:
        """Judges the outputs in a memfd, or the outputs in the shared buffers. Raises
        DescriptorError if the outputs are not inside this memory. With `keep`, keeps copies of
        right outputs for attribute_kept(). Wrong outputs are not copied, because they may have any
        shape: with strides of 0, a few bytes are a tensor of any size."""
        self.compute_references()
        with self._outputs(fd) as memory:
            outputs = [memory.tensor(wire) for wire in wires]
            result = self.judge(outputs, poisoned=True)
            self._kept = [output.clone() for output in outputs] if keep and result.ok else []
            return result

    def attribute(
        self, wires: list[dict[str, Any]], fd: int, without: list[dict[str, Any]], without_fd: int
    ) -> str:
        """Returns "" if kernels computed the outputs. Otherwise returns how the judge knows that
        they did not. The outputs must be right. Raises DescriptorError."""
        with MappedFile.snapshot(fd) as full, MappedFile.snapshot(without_fd) as rest:
            return self.unattributed(
                [full.tensor(wire) for wire in wires], [rest.tensor(wire) for wire in without]
            )

    def attribute_kept(self, without: list[dict[str, Any]]) -> str:
        """Does the same as attribute() for the outputs that compare() kept. The outputs of the run
        without kernels must be in the shared buffers."""
        with self._outputs(None) as memory:
            reason = self.unattributed(self._kept, [memory.tensor(wire) for wire in without])
        self._kept = []
        return reason

    def unattributed(self, outputs: list[torch.Tensor], without: list[torch.Tensor]) -> str:
        """Returns "" if kernels computed the outputs, which judge() must have found right."""
        given = [value for _, value in self.tensors()]
        return unattributed(
            [rule.name for rule in self.rules],
            outputs,
            without,
            given,
            self._open,
            self.operator.imported,
        )

    def computed_by_torch(self, by_kernels: list[bool]) -> str:
        """Returns "" if no output depends on what torch computes. `by_kernels` says which outputs do
        not."""
        return computed_by_torch([rule.name for rule in self.rules], by_kernels)

    def _outputs(self, fd: int | None) -> Memory:
        if fd is not None:
            return MappedFile.snapshot(fd)
        if self._output is None:
            raise ValueError("this case has no outputs in device memory")
        return Memory(self._output)

    def run_reference(self) -> None:
        if self._timed is None:
            self._timed = self.operator.timed_call(self.arguments)
        function, arguments = self._timed
        with torch.no_grad():
            function(*arguments)
