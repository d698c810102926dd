"""Chooses the cases of a definition. Each workload becomes a public case and a hidden case with
other values and, where the constraints allow it, other sizes. Small cases are added if they fit the
interpreter.

    plan = plan_cases(definition, workloads, TensorFiles(folder), most=8)
    plan.cases, plan.draws, plan.left_out

No code of the dataset is executed. Not thread-safe."""

from __future__ import annotations

import ast
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from trace_constraints import holds, parse, solve
from trace_tensors import TensorFiles
from trace_types import BadEntry, Definition, Tensor, Workload

# What a case with `interpreter = true` may have (docs/reference/operator-format.md).
INTERPRETER_BYTES = 1 << 20
INTERPRETER_DTYPES = ("float32", "float16", "int64", "int32", "int16", "int8", "bool")
INDEX_DTYPES = ("int64", "int32", "bool")
SMALL_SIZES = (37, 5, 130, 1)  # of variable axes in the cases that are added
MOST_SMALL = 2
# The tensors of the dataset's files of one definition must fit a message of the jail.
MAX_TENSORS_BYTES = 48 << 20
ITEMSIZES = {"64": 8, "32": 4, "16": 2}
PLAIN, SHIFTED, SHUFFLED = "plain", "shifted", "shuffled"


@dataclass
class PlannedCase:
    id: str
    hidden: bool
    axes: dict[str, int]
    distribution: str
    interpreter: bool
    uuid: str = ""  # of the workload; empty for a case of Assay's own
    twin: str = ""  # the public case with whose inputs a hidden case works in any case


@dataclass
class Plan:
    cases: list[PlannedCase] = field(default_factory=list)
    draws: dict[str, dict[str, Any]] = field(default_factory=dict)
    workloads: list[Workload] = field(default_factory=list)  # those that became cases
    tensors: dict[str, bytes] = field(default_factory=dict)  # by the name of their file
    structural: set[str] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)

    def relax(self, ids: set[str]) -> bool:
        """Gives hidden cases the sizes and the kind of values of their public twins. Returns True
        if a case has changed."""
        known = {one.id: one for one in self.cases}
        changed = False
        for one in self.cases:
            if one.id in ids and one.twin in known and one.twin not in ids:
                twin = known[one.twin]
                one.axes, one.distribution = twin.axes, twin.distribution
                one.interpreter, one.twin, changed = twin.interpreter, "", True
        return changed

    def drop(self, ids: set[str]) -> None:
        """Removes cases, and what only they need. A hidden case needs no public one."""
        self.cases = [one for one in self.cases if one.id not in ids]
        used = {one.distribution for one in self.cases}
        self.draws = {name: draws for name, draws in self.draws.items() if name in used}
        uuids = {one.uuid for one in self.cases}
        self.workloads = [one for one in self.workloads if one.uuid in uuids]
        files = {w["file"] for draws in self.draws.values() for w in draws["tensors"].values()}
        self.tensors = {name: data for name, data in self.tensors.items() if name in files}


def itemsize(dtype: str) -> int:
    return next((size for end, size in ITEMSIZES.items() if dtype.endswith(end)), 1)


def plan_cases(
    definition: Definition, workloads: Sequence[Workload], files: TensorFiles, most: int
) -> Plan:
    """`most` limits the number of workloads that become cases. The smallest and the largest are
    among them."""
    return _Planner(definition, files).plan(list(workloads), most)


class _Planner:
    def __init__(self, definition: Definition, files: TensorFiles) -> None:
        self._definition = definition
        self._files = files
        self._constraints: list[ast.expr] = [parse(text) for text in definition.constraints]
        tensors = [*definition.inputs, *definition.outputs]
        self._fits_interpreter = all(one.dtype in INTERPRETER_DTYPES for one in tensors)
        self._plan = Plan()

    def plan(self, workloads: list[Workload], most: int) -> Plan:
        plan = self._plan
        kept = sorted(workloads, key=lambda one: self._bytes(self._full(one.axes)))
        if len(kept) > most:
            steps = [round(i * (len(kept) - 1) / max(most - 1, 1)) for i in range(most)]
            plan.left_out.append(
                f"{len(kept) - most} of {len(kept)} workloads; --workloads N takes more"
            )
            kept = [kept[step] for step in sorted(set(steps))]
        for number, workload in enumerate(kept):
            try:
                self._add_workload(number, workload)
            except BadEntry as error:
                plan.left_out.append(f"workload {workload.uuid}: {error}")
        self._add_small()
        return plan

    def _full(self, axes: dict[str, int]) -> dict[str, int]:
        const = {name: value for name, value in self._definition.axes.items() if value is not None}
        return {**const, **axes}

    def _bytes(self, axes: dict[str, int]) -> int:
        return sum(
            itemsize(one.dtype) * math.prod(axes[axis] for axis in one.shape or ())
            for one in (*self._definition.inputs, *self._definition.outputs)
        )

    def _broken(self, axes: dict[str, int]) -> str:
        """Returns the first constraint that the axes break, or ""."""
        for text, one in zip(self._definition.constraints, self._constraints, strict=True):
            if holds(one, axes) is False:
                return text
        return ""

    def _interpretable(self, axes: dict[str, int]) -> bool:
        return self._fits_interpreter and self._bytes(axes) <= INTERPRETER_BYTES

    def _add_workload(self, number: int, workload: Workload) -> None:
        axes = self._full(workload.axes)
        if broken := self._broken(axes):
            raise BadEntry("broken_constraint", f"it breaks the constraint {broken}")
        name = f"workload_{number}"
        tensors = {
            one.name: self._stored(one, workload.inputs[one.name], axes)
            for one in self._definition.inputs
            if workload.inputs.get(one.name, {}).get("type") == "safetensors"
        }
        custom = self._custom(workload)
        draws = {"scalars": self._scalars(workload), "tensors": tensors, "custom": custom}
        self._plan.draws[name] = {**draws, "variant": PLAIN}
        self._plan.workloads.append(workload)
        self._add(name, False, axes, name, workload.uuid)
        # Integers of files are often indices, which only fit the sizes that they were made for.
        other = axes if tensors else self._other_sizes(axes)
        variant = SHUFFLED if tensors else SHIFTED
        self._plan.draws[f"{name}_{variant}"] = {**draws, "variant": variant}
        self._add(f"{name}_again", True, other, f"{name}_{variant}")
        self._plan.cases[-1].twin = name

    def _add(
        self, name: str, hidden: bool, axes: dict[str, int], distribution: str, uuid: str = ""
    ) -> None:
        interpreter = self._interpretable(axes)
        self._plan.cases.append(PlannedCase(name, hidden, axes, distribution, interpreter, uuid))

    def _custom(self, workload: Workload) -> list[str]:
        """Returns the inputs that the definition's own function makes. Its integers are often
        indices, so host code may read them."""
        custom = [
            one
            for one in self._definition.inputs
            if workload.inputs.get(one.name, {}).get("type") == "custom"
        ]
        self._plan.structural |= {one.name for one in custom if one.dtype in INDEX_DTYPES}
        return [one.name for one in custom]

    def _scalars(self, workload: Workload) -> dict[str, Any]:
        values = {}
        for one in self._definition.inputs:
            given = workload.inputs.get(one.name, {})
            if given.get("type") != "scalar":
                continue
            kind = bool if one.dtype == "bool" else float if "float" in one.dtype else int
            value = kind(given["value"])
            if value != given["value"]:
                raise BadEntry(
                    "bad_workload",
                    f"input {one.name} is {given['value']!r}, which is no {one.dtype}",
                )
            values[one.name] = value
        return values

    def _stored(self, one: Tensor, given: dict[str, Any], axes: dict[str, int]) -> dict[str, Any]:
        """Copies a tensor of the dataset into the plan. Returns its description."""
        shape = [axes[axis] for axis in one.shape or ()]
        data = self._files.read(given["path"], given["tensor_key"], one.name, one.dtype, shape)
        sha256 = hashlib.sha256(data).hexdigest()
        file = f"tensor_{sha256[:16]}.bin"
        held = {**self._plan.tensors, file: data}
        if sum(map(len, held.values())) > MAX_TENSORS_BYTES:
            raise BadEntry(
                "too_large", f"the tensors of its files exceed {MAX_TENSORS_BYTES >> 20} MiB"
            )
        self._plan.tensors[file] = data
        if one.dtype in INDEX_DTYPES:
            self._plan.structural.add(one.name)
        return {"file": file, "sha256": sha256, "dtype": one.dtype, "shape": shape}

    def _other_sizes(self, axes: dict[str, int]) -> dict[str, int]:
        """Returns other sizes of the variable axes that fulfil the constraints, or `axes`."""
        variable = [name for name, value in self._definition.axes.items() if value is None]
        if self._definition.unbound_axes():
            return axes
        changed = dict(axes)
        for name in variable:
            for size in (axes[name] - axes[name] // 8 - 1, axes[name] + 1):
                tried = solve(self._constraints, {**changed, name: size})
                if self._valid(tried):
                    changed = tried
                    break
        return changed

    def _valid(self, axes: dict[str, int]) -> bool:
        fixed = all(
            value is None or axes[name] == value for name, value in self._definition.axes.items()
        )
        return fixed and min(axes.values(), default=1) >= 1 and not self._broken(axes)

    def _add_small(self) -> None:
        """Adds small cases without tensors of files, so that a machine without a GPU can judge."""
        plan = self._plan
        variable = [name for name, value in self._definition.axes.items() if value is None]
        first = next((name for name, one in plan.draws.items() if not one["tensors"]), None)
        if first is None or not variable or self._definition.unbound_axes():
            return
        scalars, custom = plan.draws[first]["scalars"], plan.draws[first]["custom"]
        known = [one.axes for one in plan.cases]
        for hidden, variant in ((False, PLAIN), (True, SHIFTED)):
            added = 0
            for size in SMALL_SIZES:
                sizes = {name: size + hidden + place for place, name in enumerate(variable)}
                axes = solve(self._constraints, self._full(sizes))
                if added == MOST_SMALL or axes in known:
                    continue
                if not self._valid(axes) or not self._interpretable(axes):
                    continue
                distribution = f"small_{variant}"
                draws = {"scalars": scalars, "tensors": {}, "custom": custom, "variant": variant}
                plan.draws[distribution] = draws
                known.append(axes)
                added += 1
                self._add(f"{'hidden_' * hidden}small_{size}", hidden, axes, distribution)
