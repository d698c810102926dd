"""Writes the files of the operator that a definition becomes (docs/reference/operator-format.md).

    parts = operator_files("gemm_n128", definition, plan, provenance)  # {name of file: bytes}

Names of operators, arguments and axes are lower-case identifiers, so names of the definition change
where necessary: the input `A` becomes `a`. Pure functions."""

from __future__ import annotations

import ast
import hashlib
import json
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from checkout import Provenance
from trace_cases import Plan
from trace_constraints import names_in, parse
from trace_types import Definition, Tensor

MAX_NAME_CHARS = 56
FAMILIES = {
    "gemm": "gemm",
    "rmsnorm": "normalization",
    "fused_add_rmsnorm": "normalization",
    "gqa": "attention",
    "mla": "attention",
    "dsa": "attention",
    "rope": "positional",
    "gdn": "scan",
    "sampling": "sampling",
}
DEFAULT_FAMILY, DIFFICULTY = "fused", 3
REFERENCE = """

# The rest of this file was added by `assay import`.
from pathlib import Path as _Path

from harness.imported.definition import Definition as _Definition

_DEFINITION = _Definition(_Path(__file__).parent, {sha256!r}{custom})
NO_FLOAT64 = True


def inputs(case, rng):
    return _DEFINITION.inputs(case, rng)


def reference({arguments}):
    return _DEFINITION.call(run, {arguments})


def cost(case):
    return _DEFINITION.cost(case)
"""


def operator_name(text: str) -> str:
    name = re.sub(r"[^a-z0-9_]", "_", text.lower())[:MAX_NAME_CHARS]
    return name if name[:1].isalpha() else f"op_{name}"


@dataclass(frozen=True)
class Names:
    """The operator's names of the definition's inputs, outputs and axes."""

    tensors: dict[str, str]
    axes: dict[str, str]


def names_of(definition: Definition) -> Names:
    taken: set[str] = set()
    tensors = {
        one.name: _new_name(one.name, taken, "")
        for one in (*definition.inputs, *definition.outputs)
    }
    axes = {name: _new_name(name, taken, "_size") for name in definition.axes}
    return Names(tensors, axes)


def _new_name(text: str, taken: set[str], suffix: str) -> str:
    name = operator_name(text)
    if keyword.iskeyword(name) or name in ("run", "torch", "inspect"):
        name += "_"
    if name in taken:
        name += suffix
    base, number = name, 2
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    taken.add(name)
    return name


def operator_files(
    name: str, definition: Definition, plan: Plan, file: str, provenance: Provenance
) -> dict[str, bytes]:
    names = names_of(definition)
    known = {
        "definition": definition.document,
        "workloads": [one.document for one in plan.workloads],
        "cases": {one.id: one.uuid for one in plan.cases if one.uuid},
        "arguments": [_described(one, names) for one in definition.inputs],
        "outputs": [_described(one, names) for one in definition.outputs],
        "axes": names.axes,
        "draws": plan.draws,
    }
    document = json.dumps(known, indent=1).encode()
    arguments = ", ".join(names.tensors[one.name] for one in definition.inputs)
    digest = hashlib.sha256(document).hexdigest()
    custom = f", {definition.custom_inputs}" if definition.custom_inputs else ""
    added = REFERENCE.format(sha256=digest, custom=custom, arguments=arguments)
    reference = definition.reference.rstrip() + added
    spec = "\n".join(_spec(name, definition, names, plan, file, provenance)) + "\n"
    return {
        "spec.toml": spec.encode(),
        "reference.py": reference.encode(),
        "definition.json": document,
        **plan.tensors,
    }


def _described(one: Tensor, names: Names) -> dict[str, Any]:
    shape = None if one.shape is None else [names.axes[axis] for axis in one.shape]
    name = names.tensors[one.name]
    known = {"name": name, "original": one.name, "dtype": one.dtype, "shape": shape}
    return {**known, "values": one.values}


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _type(one: Tensor) -> str:
    if one.shape is not None:
        return "tensor"
    return "bool" if one.dtype == "bool" else "float" if "float" in one.dtype else "int"


def _case_dtype(definition: Definition) -> str:
    """Returns the dtype that decides whether the interpreter can run a case."""
    dtypes = [
        one.dtype for one in (*definition.inputs, *definition.outputs) if one.shape is not None
    ]
    narrow = [dtype for dtype in dtypes if dtype == "bfloat16" or dtype.startswith("float8")]
    floats = [dtype for dtype in dtypes if "float" in dtype]
    return [*narrow, *floats, *dtypes][0]


def _family(definition: Definition) -> str:
    found = [family for start, family in FAMILIES.items() if definition.op_type.startswith(start)]
    return (found or [DEFAULT_FAMILY])[0]


def _spec(
    name: str,
    definition: Definition,
    names: Names,
    plan: Plan,
    file: str,
    provenance: Provenance,
) -> Iterator[str]:
    entry = f"call_{name}"
    arguments = [(names.tensors[one.name], one) for one in definition.inputs]
    typed = ", ".join(
        f"{argument}: {'Tensor' if one.shape is not None else _type(one)}"
        for argument, one in arguments
    )
    count = len(definition.outputs)
    result = "Tensor" if count == 1 else f"tuple[{', '.join(['Tensor'] * count)}]"
    yield f"name = {_toml(name)}"
    yield 'split = "standard"'
    yield f"family = {_toml(_family(definition))}"
    yield 'dialect = "triton"'
    yield f"difficulty = {DIFFICULTY}"
    yield f"summary = {_toml(f'{definition.name} of {provenance.benchmark}')}"
    yield f"description = {_toml(_description(definition, names))}"
    yield f"entry = {_toml(entry)}"
    yield f"signature = {_toml(f'{entry}({typed}) -> {result}')}"
    yield "imported = true"
    yield 'baseline = "torch_eager"'
    for key, value in (
        ("benchmark", provenance.benchmark),
        ("benchmark_file", file),
        ("benchmark_file_sha256", hashlib.sha256(_canonical(definition)).hexdigest()),
        ("benchmark_revision", provenance.revision),
        ("benchmark_licence", provenance.licence),
        ("benchmark_tolerance", definition.rule.benchmarks),
    ):
        if value:
            yield f"{key} = {_toml(value)}"
    yield f"adapter = {_toml(adapter(entry, definition, names))}"
    for argument, one in arguments:
        yield f"\n[[arguments]]\nname = {_toml(argument)}\ntype = {_toml(_type(one))}"
        role = "structural" if one.name in plan.structural else "input"
        if one.shape is not None:
            shape = [names.axes[axis] for axis in one.shape]
            yield f"dtype = {_toml(one.dtype)}\nshape = {_toml(shape)}"
        known = "contiguous" if one.shape is not None else f"a scalar of the dtype {one.dtype}"
        yield f'role = "{role}"\ndescription = {_toml(one.description or known)}'
    for one in definition.outputs:
        shape = [names.axes[axis] for axis in one.shape or ()]
        error = definition.rule.tolerance if "float" in one.dtype else 0.0
        yield f"\n[[outputs]]\nname = {_toml(names.tensors[one.name])}\ndtype = {_toml(one.dtype)}"
        yield f"shape = {_toml(shape)}\nmax_abs_error = {error}"
        if error:
            yield "or_relative = true"
    dtype = _case_dtype(definition)
    for case in plan.cases:
        axes = ", ".join(f"{names.axes[axis]} = {value}" for axis, value in case.axes.items())
        yield f'\n[[cases]]\nid = {_toml(case.id)}\nvisibility = "{"hidden" if case.hidden else "public"}"'
        yield f"interpreter = {str(case.interpreter).lower()}\ndtype = {_toml(dtype)}"
        yield f"axes = {{ {axes} }}\ndistribution = {_toml(case.distribution)}"


def _canonical(definition: Definition) -> bytes:
    return json.dumps(definition.document, sort_keys=True).encode()


def _listed(tensors: Iterable[Tensor]) -> str:
    return ", ".join(
        f"{one.name} ({one.dtype}, {'a scalar' if one.shape is None else list(one.shape)})"
        for one in tensors
    )


def _description(definition: Definition, names: Names) -> str:
    renamed = [
        f"{old} is {new}" for old, new in {**names.axes, **names.tensors}.items() if old != new
    ]
    outputs = ", ".join(one.name for one in definition.outputs)
    in_place = (
        ""
        if definition.unbound_axes()
        else f"Or let `run` take the outputs as further arguments ({outputs}) and write to them. "
    )
    lines = [
        definition.description.strip() or f"The definition {definition.name}.",
        "",
        f"Define `run({', '.join(one.name for one in definition.inputs)})`, which returns the "
        f"output{'s' if len(definition.outputs) > 1 else ''} {outputs}. {in_place}Arguments are "
        "passed by position.",
        f"Inputs: {_listed(definition.inputs)}.",
        f"Outputs: {_listed(definition.outputs)}.",
        f"An element may be off by {definition.rule.tolerance} or by {definition.rule.tolerance} "
        "times its own size, whichever is more; integers and bools must be equal.",
    ]
    if definition.constraints:
        lines.append(f"Constraints: {'; '.join(definition.constraints)}.")
    if renamed:
        lines.append(f"Names in Assay: {', '.join(renamed)}.")
    return "\n".join(lines)


def adapter(entry: str, definition: Definition, names: Names) -> str:
    """Returns Python text that defines the operator's entry function. It calls a submission's `run`
    in the style that the number of its parameters shows: `run` returns the outputs, or it also
    takes them as arguments (destination passing style)."""
    given = [names.tensors[one.name] for one in definition.inputs]
    arguments = ", ".join(given)
    originals = [one.name for one in definition.outputs]
    first = next(names.tensors[one.name] for one in definition.inputs if one.shape is not None)
    lines = ["import inspect", "", "import torch", "", "", f"def {entry}({arguments}):"]
    if not definition.unbound_axes():
        made = ", ".join(_empty(one, definition, names, first) for one in definition.outputs)
        lines += [
            "    try:",
            "        count = len(inspect.signature(run).parameters)",
            "    except (TypeError, ValueError):",
            f"        count = {len(given)}",
            f"    if count == {len(given) + len(originals)}:",
            f"        outputs = ({made},)",
            f"        run({arguments}, *outputs)",
            f"        return outputs{'[0]' if len(originals) == 1 else ''}",
        ]
    lines += [
        f"    outputs = run({arguments})",
        "    if isinstance(outputs, dict):",
        f"        outputs = tuple(outputs[name] for name in {originals!r})",
        "    outputs = tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)",
        "    return outputs[0] if len(outputs) == 1 else outputs",
    ]
    return "\n".join(lines) + "\n"


def _empty(one: Tensor, definition: Definition, names: Names, first: str) -> str:
    bound: dict[str, str] = {
        axis: f"{names.tensors[tensor.name]}.shape[{dim}]"
        for tensor in definition.inputs
        for dim, axis in enumerate(tensor.shape or ())
    }
    extents = [_extent(axis, definition, bound) for axis in one.shape or ()]
    shape = f"({', '.join(extents)}{',' if len(extents) == 1 else ''})"
    return f"torch.empty({shape}, dtype=torch.{one.dtype}, device={first}.device)"


def _extent(axis: str, definition: Definition, bound: dict[str, str]) -> str:
    """Returns Python text for the size of an axis, from the shapes of the inputs."""
    value = definition.axes[axis]
    if value is not None or axis in bound:
        return bound[axis] if value is None else str(value)
    tree = parse(definition.expressions[axis])
    known = {name: _extent(name, definition, bound) for name in names_in(tree)}
    return f"int({ast.unparse(_Renamed(known).visit(tree))})"


class _Renamed(ast.NodeTransformer):
    """Replaces names by the texts of other expressions."""

    def __init__(self, known: dict[str, str]) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return parse(self._known[node.id])
