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
from golden_calls import NUMBERS, Call, constant
from golden_folder import GoldenFile
from harness.wire.tensors import NAMES

# The tolerance of every float output. It is the largest tolerance that a spec may have. TritonBench
# defines no tolerance: it compares the texts that print() makes of the outputs.
FLOAT_ERROR = 0.01
REFERENCE = '''"""Made by `assay import`: inputs and expected outputs come from the golden file's test part and kernel part."""

from pathlib import Path

from harness.imported.golden import Golden

_GOLDEN = Golden(Path(__file__).parent, {sha!r}, {interface!r}, {calls!r})


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


def write_operator(folder: Path, group: list[Call], parts: Parts, calls: list[Call]) -> None:
    first = group[0]
    leaves = first.leaves
    names = [
        f"a{i}" if isinstance(leaf, torch.Tensor) or type(leaf) in NUMBERS else ""
        for i, leaf in enumerate(leaves)
    ]
    assert first.returned is not None
    # A recording does not show which memory the kernels write, and the launcher requires that
    # inputs stay unchanged. So all memory that was passed to kernels counts as written.
    written = [names[i] for i in sorted(first.touched - first.structural)]
    structural = {names[i] for call in group for i in call.structural} - set(written)
    tensors = {
        name: leaf
        for name, leaf in zip(names, leaves, strict=True)
        if isinstance(leaf, torch.Tensor)
    }
    interface = {
        "leaves": names,
        "dtypes": {name: NAMES[x.dtype] for name, x in tensors.items()},
        "written": written,
    }
    known = [None if call.returned is None else call.returned for call in calls]
    folder.mkdir(parents=True, exist_ok=True)
    sha = hashlib.sha256(parts.test.encode()).hexdigest()
    (folder / "reference.py").write_text(
        REFERENCE.format(sha=sha, interface=interface, calls=known), encoding="utf-8"
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
    assert first.returned is not None
    given = [
        (argument, leaf) for argument, leaf in zip(names, first.leaves, strict=True) if argument
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
    yield f"summary = {_toml(f'{first.function} of TritonBench-G, {parts.golden.name}')}"
    yield f"description = {_toml(_description(first, parts))}"
    yield f"entry = {_toml(entry)}"
    yield f"signature = {_toml(signature)}"
    yield "imported = true"
    yield f"adapter = {_toml(adapter(entry, first, names))}"
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
        yield f"description = {_toml('as the test part gives it')}"
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


def _type_name(leaf: Any) -> str:
    return "Tensor" if isinstance(leaf, torch.Tensor) else NUMBERS[type(leaf)]


def _axes(name: str, rank: int) -> str:
    return json.dumps([f"{name}_{dim}" for dim in range(rank)])


def _extents(call: Call, names: list[str]) -> Iterator[tuple[str, int]]:
    for name, leaf in zip(names, call.leaves, strict=True):
        if isinstance(leaf, torch.Tensor):
            yield from ((f"{name}_{dim}", extent) for dim, extent in enumerate(leaf.shape))
    assert call.returned is not None
    for i, (_, shape) in enumerate(call.returned):
        yield from ((f"y{i}_{dim}", extent) for dim, extent in enumerate(shape))


def _description(call: Call, parts: Parts) -> str:
    description = (
        parts.golden.description.strip()
        or "The benchmark's own description was not beside its files."
    )
    return (
        f"{description}\n\nDefine `{call.function}` with the signature of the description; "
        "Assay calls it as the benchmark's test part does."
    )


def adapter(entry: str, call: Call, names: list[str]) -> str:
    """Returns Python text that defines the operator's entry function. This function calls the
    function of the kernel part."""
    leaves = iter(list(zip(names, call.leaves, strict=True)))
    args, kwargs = _expression(call.args, leaves), _expression(call.kwargs, leaves)
    made = f"{call.function}(*{args}, **{kwargs})"
    lines = ["import torch", "", "", f"def {entry}({', '.join(name for name in names if name)}):"]
    if not call.returned:
        lines += [f"    {made}", "    return None"]
    else:
        lines += [
            f"    leaves = torch.utils._pytree.tree_leaves({made})",
            "    tensors = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))",
            "    return tensors[0] if len(tensors) == 1 else tensors",
        ]
    return "\n".join(lines) + "\n"


def _expression(value: Any, leaves: Iterator[tuple[str, Any]]) -> str:
    """Returns a Python expression for a nested structure. Each leaf is replaced by its name."""
    if type(value) is tuple:
        return "(" + "".join(_expression(item, leaves) + ", " for item in value) + ")"
    if type(value) is list:
        return "[" + ", ".join(_expression(item, leaves) for item in value) + "]"
    if type(value) is dict:
        return (
            "{"
            + ", ".join(f"{key!r}: {_expression(item, leaves)}" for key, item in value.items())
            + "}"
        )
    name, leaf = next(leaves)
    return name or str(constant(leaf))


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
