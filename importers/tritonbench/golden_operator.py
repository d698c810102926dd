"""Writes a group of calls in a golden file as the folder of one operator
(docs/reference/operator-format.md) in a suite.

    write_operator(folder, group, Parts(...), calls)

The folder contains four files. spec.toml has an adapter: Python text that makes the operator's
entry function call the kernel part's function. oracle.py contains the kernel part. test_part.py
contains the test part. reference.py gets the inputs and the expected outputs from
harness/imported/golden.py."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from benchmark_file import GoldenFile
from golden_calls import Call
from golden_draws import MODE
from golden_expressions import MODULE, NUMBERS
from harness.wire.tensors import DTYPES, NAMES

# The tolerance of every float output. It is the largest tolerance that a spec may have. TritonBench
# defines no tolerance: it compares the texts that print() makes of the outputs.
FLOAT_ERROR = 0.01
OTHER_SUFFIX = "_other"  # of the ids of hidden cases of other shapes (golden_other_shapes.py)
SAME_SHAPES = "Hidden cases have the shapes of the public ones, and other values."
REFERENCE = '''"""Made by `assay import`: inputs and expected outputs come from the golden file's test part and kernel part."""

from pathlib import Path

from harness.imported.golden import Golden

_GOLDEN = Golden(Path(__file__).parent, {sha!r}, {interface!r}, {calls!r}, {draws!r})


def inputs(case, rng):
    return _GOLDEN.inputs(case, rng)


def reference(**arguments):
    return _GOLDEN.reference(arguments)


def open_elements(**arguments):
    return _GOLDEN.open_elements(arguments)


def output_axes(case, arguments):
    return _GOLDEN.output_axes(case, arguments)


def cost(case):
    return _GOLDEN.cost(case)
'''


@dataclass
class Parts:
    """A golden file, and its two parts."""

    golden: GoldenFile
    kernel: str
    test: str
    tests: list[int]  # the number of calls in each test, or [] if the test part calls by itself


def write_operator(folder: Path, group: list[Call], parts: Parts, calls: list[Call]) -> None:
    first = group[0]
    names = first.names
    # A recording does not show which memory the kernels write, and the launcher requires that
    # inputs stay unchanged. So all memory that was passed to kernels counts as written.
    written = [names[i] for i in sorted(first.touched - first.structural)]
    structural = {names[i] for call in group for i in call.structural} - set(written)
    tensors = {
        name: leaf
        for name, leaf in zip(names, first.leaves, strict=True)
        if isinstance(leaf, torch.Tensor)
    }
    drawn = {f"d{i}": draw[2] for i, draw in enumerate(first.draws)}
    interface = {
        "leaves": names,
        "dtypes": {**{name: NAMES[x.dtype] for name, x in tensors.items()}, **drawn},
        "written": written,
        **({"tests": parts.tests} if parts.tests else {}),
    }
    known = [call.form for call in calls]
    draws = {call.number: call.draws for call in group if call.draws}
    folder.mkdir(parents=True, exist_ok=True)
    sha = hashlib.sha256(parts.test.encode()).hexdigest()
    (folder / "reference.py").write_text(
        REFERENCE.format(sha=sha, interface=interface, calls=known, draws=draws),
        encoding="utf-8",
    )
    (folder / "oracle.py").write_text(parts.kernel, encoding="utf-8")
    (folder / "test_part.py").write_text(parts.test, encoding="utf-8")
    spec = "\n".join(_spec(folder.name, group, parts, names, written, structural))
    (folder / "spec.toml").write_text(spec + "\n", encoding="utf-8")


def _spec(
    name: str,
    group: list[Call],
    parts: Parts,
    names: list[str],
    written: list[str],
    structural: set[str],
) -> Iterator[str]:
    first = group[0]
    given = [
        (argument, leaf) for argument, leaf in zip(names, first.leaves, strict=True) if argument
    ]
    given += [
        (f"d{i}", torch.empty(shape, dtype=DTYPES[dtype], device="meta"))
        for i, (_, shape, dtype, *_) in enumerate(first.draws)
    ]
    returned = ["Tensor"] * len(first.returned)
    result = (
        "None"
        if not returned
        else returned[0]
        if len(returned) == 1
        else f"tuple[{', '.join(returned)}]"
    )
    # The entry's name has a prefix, because it must differ from all names in the kernel part. The
    # kernel part may have a function with the same name as the file.
    entry = f"call_{name}"
    signature = f"{entry}({', '.join(f'{argument}: {_type_name(leaf)}' for argument, leaf in given)}) -> {result}"
    yield f"name = {_toml(name)}"
    yield 'split = "standard"'
    yield 'family = "fused"'
    yield 'dialect = "triton"'
    yield f"difficulty = {parts.golden.difficulty}"
    yield f"summary = {_toml(f'{first.function} of {parts.golden.provenance.benchmark}, {parts.golden.name}')}"
    yield f"description = {_toml(_description(first, parts))}"
    yield f"entry = {_toml(entry)}"
    yield f"signature = {_toml(signature)}"
    yield "imported = true"
    provenance = parts.golden.provenance
    for key, value in (
        ("benchmark", provenance.benchmark),
        ("benchmark_file", parts.golden.name),
        ("benchmark_file_sha256", hashlib.sha256(parts.golden.text.encode()).hexdigest()),
        ("benchmark_revision", provenance.revision),
        ("benchmark_licence", provenance.licence),
    ):
        if value:
            yield f"{key} = {_toml(value)}"
    yield f"adapter = {_toml(adapter(entry, first))}"
    yield f"call = {_toml(first.text)}"
    dtype = next(NAMES[leaf.dtype] for _, leaf in given if isinstance(leaf, torch.Tensor))
    for argument, leaf in given:
        yield f"\n[[arguments]]\nname = {_toml(argument)}"
        if isinstance(leaf, torch.Tensor):
            role = (
                "inout"
                if argument in written
                else "structural"
                if argument in structural
                else "input"
            )
            yield f'type = "tensor"\ndtype = {_toml(NAMES[leaf.dtype])}\nshape = {_axes(argument, leaf.dim())}\nrole = "{role}"'
        else:
            yield f'type = "{NUMBERS[type(leaf)]}"\nrole = "input"'
        yield f"description = {_toml(_origin(argument, leaf, first))}"
    outputs = [(f"y{i}", kind, len(shape), "") for i, (kind, shape) in enumerate(first.returned)]
    by_name = dict(given)
    outputs += [
        (f"{argument}_after", NAMES[by_name[argument].dtype], by_name[argument].dim(), argument)
        for argument in written
    ]
    for output, kind, rank, source in outputs:
        error = FLOAT_ERROR if "float" in kind else 0.0
        yield f"\n[[outputs]]\nname = {_toml(output)}\ndtype = {_toml(kind)}\nshape = {_axes(source or output, rank)}"
        yield f"max_abs_error = {error}"
        if source:
            yield f"from = {_toml(source)}"
    for visibility, suffix in (("public", ""), ("hidden", "_again")):
        for call in group:
            yield f'\n[[cases]]\nid = "call_{call.number}{suffix}"\nvisibility = "{visibility}"\ninterpreter = false'
            yield f"dtype = {_toml(dtype)}"
            yield f"axes = {{ {', '.join(f'{axis} = {extent}' for axis, extent in _extents(call, names))} }}"
            yield f'distribution = "call_{call.number}"'


def is_other(case: str) -> bool:
    """Returns True if this is the id of a hidden case of other shapes."""
    return case.endswith(OTHER_SUFFIX)


def _type_name(leaf: Any) -> str:
    return "Tensor" if isinstance(leaf, torch.Tensor) else NUMBERS[type(leaf)]


def _axes(name: str, rank: int) -> str:
    return json.dumps([f"{name}_{dim}" for dim in range(rank)])


def _extents(call: Call, names: list[str]) -> Iterator[tuple[str, int]]:
    for name, leaf in zip(names, call.leaves, strict=True):
        if isinstance(leaf, torch.Tensor):
            yield from ((f"{name}_{dim}", extent) for dim, extent in enumerate(leaf.shape))
    for i, (_, shape, *_) in enumerate(call.draws):
        yield from ((f"d{i}_{dim}", extent) for dim, extent in enumerate(shape))
    for i, (_, shape) in enumerate(call.returned):
        yield from ((f"y{i}_{dim}", extent) for dim, extent in enumerate(shape))


def _description(call: Call, parts: Parts) -> str:
    description = (
        parts.golden.description.strip()
        or "The benchmark's own description was not beside its files."
    )
    drawn = (
        f" The function draws {len(call.draws)} random tensors itself with torch.randn, "
        "torch.rand or torch.randint; Assay hands out the tensors d0, d1, ... in their place."
        if call.draws
        else ""
    )
    return (
        f"{description}\n\nDefine `{call.function}` as this text describes it. Assay calls it as the "
        f"benchmark's tests do: {call.text}.{drawn} The benchmark's own kernel computes the expected "
        f"outputs from the same arguments. {SAME_SHAPES}"
    )


def _origin(argument: str, leaf: Any, call: Call) -> str:
    """Returns the description of an argument."""
    if argument.startswith("d"):
        return f"what torch.{call.draws[int(argument[1:])][0]} draws in the function"
    if isinstance(leaf, torch.Tensor) and not leaf.is_contiguous():
        return f"as the benchmark's tests make it, with strides {tuple(leaf.stride())} in the first case"
    return "as the benchmark's tests make it"


def adapter(entry: str, call: Call) -> str:
    """Returns Python text that defines the operator's entry function. This function calls the
    function of the kernel part."""
    drawn = [f"d{i}" for i in range(len(call.draws))]
    lines = ["import torch"]
    lines += ["import triton"] if "triton." in call.text else []
    lines += ["", MODE] if drawn else []
    lines += ["", "", MODULE] if "_module(" in call.text else []
    parameters = ", ".join([*(name for name in call.names if name), *drawn])
    lines += ["", "", f"def {entry}({parameters}):"]
    made = f"result = {call.text}"
    lines += (
        [f"    with _Drawn({', '.join(drawn)}):", f"        {made}"] if drawn else [f"    {made}"]
    )
    if not call.returned:
        lines += ["    return None"]
    else:
        lines += [
            "    leaves = torch.utils._pytree.tree_leaves(result)",
            "    tensors = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))",
            "    return tensors[0] if len(tensors) == 1 else tensors",
        ]
    return "\n".join(lines) + "\n"


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
