"""Writes the folder of an operator without an oracle: spec.toml and reference.py
(docs/reference/operator-format.md). reference.py contains the text of the benchmark's reference, so
agents see the task as the benchmark states it.

    write_operator(folder, form, parts)"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from benchmark_file import GoldenFile
from eager_form import CaseShape, Form, NewCase, dtype_name, joined

FLOAT_ERROR = 0.01
TYPES = {bool: "bool", int: "int", float: "float"}
NO_AXES = "one"  # the axis of an operator whose tensors have no dimension
HEAD = '''"""Made by `assay import {kind}` from {file}."""

'''
TAIL = """

from harness.imported.drawn import Drawn  # noqa: E402

_DRAWN = Drawn({tables})


def inputs(case, rng):
    return _DRAWN.inputs(case, rng)


{reference}

def cost(case):
    return _DRAWN.cost(case)
"""
FUTURE = "from __future__"
RESERVED = ("inputs", "reference", "cost", "mutants", "shortcuts", "open_elements", "output_axes")


@dataclass
class Parts:
    golden: GoldenFile
    reference: str  # the reference part of the file
    kind: str  # of the importer: "tritonbench-t"


class Axes:
    """Names the axes of an operator. Dimensions that are equal in every case share an axis."""

    def __init__(self, form: Form) -> None:
        self._names: dict[tuple[int, ...], str] = {}
        self.of: dict[str, list[str]] = {}
        self.values: dict[str, tuple[int, ...]] = {}
        for name, value in form.tensors.items():
            extents = [case.shape.extents[name] for case in form.cases]
            self.of[name] = [self._axis(name, dim, extents) for dim in range(value.dim())]
        for i, (name, _, rank, source) in enumerate(form.outputs):
            extents = [case.outputs[i] for case in form.cases]
            self.of[name] = (
                self.of[source]
                if source
                else [self._axis(name, dim, extents) for dim in range(rank)]
            )
        if not self.values:
            self.values[NO_AXES] = (1,) * len(form.cases)

    def _axis(self, name: str, dim: int, extents: list[tuple[int, ...]]) -> str:
        values = tuple(one[dim] for one in extents)
        if values not in self._names:
            self._names[values] = f"{name}_{dim}"
            self.values[f"{name}_{dim}"] = values
        return self._names[values]

    def of_case(self, number: int) -> dict[str, int]:
        return {axis: values[number] for axis, values in self.values.items()}


def write_operator(folder: Path, form: Form, parts: Parts) -> None:
    axes = Axes(form)
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "arguments": {
            name: [dtype_name(value.dtype), axes.of[name]] for name, value in form.tensors.items()
        },
        "outputs": {name: [dtype_name(dtype), axes.of[name]] for name, dtype, *_ in form.outputs},
        "counts_outputs": form.counts_outputs,
        "inputs": {case.id: case.inputs for case in form.cases},
    }
    text = HEAD.format(kind=parts.kind, file=parts.golden.name) + parts.reference.strip("\n") + "\n"
    text += TAIL.format(tables=repr(json.dumps(tables)), reference=form.reference_text())
    (folder / "reference.py").write_text(text, encoding="utf-8")
    spec = "\n".join(_spec(folder.name, form, parts, axes))
    (folder / "spec.toml").write_text(spec + "\n", encoding="utf-8")


def _spec(name: str, form: Form, parts: Parts, axes: Axes) -> Iterator[str]:
    golden, first = parts.golden, form.first
    entry = f"call_{name}"
    returned = ["Tensor"] * len(first.returned)
    result = "None" if not returned else returned[0]
    if len(returned) > 1:
        result = f"tuple[{', '.join(returned)}]"
    named = ", ".join(f"{leaf.name}: {_type_name(leaf.value)}" for leaf in first.leaves)
    yield f"name = {_toml(name)}"
    yield 'split = "standard"'
    yield 'family = "fused"'
    yield 'dialect = "triton"'
    yield f"difficulty = {golden.difficulty}"
    benchmark = golden.provenance.benchmark
    yield f"summary = {_toml(f'{first.function} of {benchmark}, {golden.name}')}"
    yield f"description = {_toml(_description(form, parts))}"
    yield f"entry = {_toml(entry)}"
    yield f"signature = {_toml(f'{entry}({named}) -> {result}')}"
    yield "imported = true"
    yield 'baseline = "torch_eager"'
    for key, value in (
        ("benchmark", benchmark),
        ("benchmark_file", golden.name),
        ("benchmark_file_sha256", hashlib.sha256(golden.text.encode()).hexdigest()),
        ("benchmark_revision", golden.provenance.revision),
        ("benchmark_licence", golden.provenance.licence),
    ):
        if value:
            yield f"{key} = {_toml(value)}"
    yield f"adapter = {_toml(_adapter(entry, form))}"
    yield f"call = {_toml(first.text)}"
    for leaf in first.leaves:
        yield f"\n[[arguments]]\nname = {_toml(leaf.name)}"
        if isinstance(leaf.value, torch.Tensor):
            role = "inout" if leaf.name in form.written else "input"
            yield f'type = "tensor"\ndtype = {_toml(dtype_name(leaf.value.dtype))}'
            yield f'shape = {json.dumps(axes.of[leaf.name])}\nrole = "{role}"'
            yield 'description = "contiguous"'
        else:
            yield f'type = "{TYPES[type(leaf.value)]}"\nrole = "input"\ndescription = "a number"'
    for (output, dtype, _, source), scale in zip(form.outputs, form.scales, strict=True):
        floating = dtype.is_floating_point
        yield f"\n[[outputs]]\nname = {_toml(output)}\ndtype = {_toml(dtype_name(dtype))}"
        yield f"shape = {json.dumps(axes.of[output])}"
        yield f"max_abs_error = {FLOAT_ERROR if floating else 0.0}"
        if floating:
            yield f"scale = {scale!r}"
        if source:
            yield f"from = {_toml(source)}"
    yield from _cases(form, axes)


def _cases(form: Form, axes: Axes) -> Iterator[str]:
    dtype = next(dtype_name(value.dtype) for value in form.tensors.values())
    for number, case in enumerate(form.cases):
        interpreted = "true" if case.small and runs_in_interpreter(form) else "false"
        visibility = "hidden" if case.hidden else "public"
        yield f'\n[[cases]]\nid = "{case.id}"\nvisibility = "{visibility}"'
        yield f"interpreter = {interpreted}\ndtype = {_toml(dtype)}"
        extents = ", ".join(f"{axis} = {n}" for axis, n in axes.of_case(number).items())
        yield f'axes = {{ {extents} }}\ndistribution = "{case.id}"'


def runs_in_interpreter(form: Form) -> bool:
    """Triton's interpreter does not compute in bfloat16 or in float8."""
    kinds = [*form.tensors.values()]
    names = [dtype_name(value.dtype) for value in kinds] + [
        dtype_name(dtype) for _, dtype, *_ in form.outputs
    ]
    return not any(name == "bfloat16" or name.startswith("float8") for name in names)


def _adapter(entry: str, form: Form) -> str:
    parameters = ", ".join(leaf.name for leaf in form.first.leaves)
    device = f"{form.first.tensors[0].name}.device"
    selected = [
        f"result{path}.to({device})" if path in form.on_cpu else f"result{path}"
        for path, _ in form.first.returned
    ]
    returned = "None" if not selected else selected[0]
    if len(selected) > 1:
        returned = joined(selected)
    return f"import torch\n\n\ndef {entry}({parameters}):\n{form.body()}\n    return {returned}\n"


def _description(form: Form, parts: Parts) -> str:
    description = (
        parts.golden.description.strip()
        or "The benchmark's own description was not beside its files."
    )
    written = (
        f" It also writes to {', '.join(form.written)}, as the reference does."
        if form.written
        else ""
    )
    moved = (
        " The reference makes its result on the CPU if the call names no device. A result on the CPU or "
        "on the device of the inputs is right."
        if form.on_cpu
        else ""
    )
    return (
        f"{description}\n\nDefine `{form.function}` with the interface of the function of this name in "
        f"the reference. Assay calls it as the benchmark's tests do: {form.first.text}.{written}{moved} The "
        "inputs of the public cases are those of the tests; other cases have other values and sizes."
    )


def _type_name(value: Any) -> str:
    return "Tensor" if isinstance(value, torch.Tensor) else TYPES[type(value)]


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


__all__ = ["Axes", "CaseShape", "NewCase", "Parts", "write_operator"]
