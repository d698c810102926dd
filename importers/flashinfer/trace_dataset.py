"""Reads the definitions and workloads of a FlashInfer Trace dataset: a folder with definitions/,
workloads/, solutions/, traces/ and tensors in safetensors files. No code of the dataset is executed.

    dataset = read_dataset(Path("flashinfer-trace"), only=[])
    for one in dataset.files:
        one.definition.inputs, one.workloads, one.problem

A file that cannot be used has a `problem`, which names what is wrong and what helps. BadFolder means
that the folder as a whole cannot be used."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkout import BAD_DATA, NO_INPUT, BadFolder
from trace_constraints import BadConstraint, parse
from trace_types import BadEntry, Dataset, Definition, DefinitionFile, Tensor, Workload

FOLDER = "a dataset of FlashInfer Trace, with definitions/ and workloads/"
MAX_FILE_BYTES = 64 << 20
MAX_FILES = 4096  # with definitions, and with workloads
MAX_WORKLOADS = 4096  # of a definition
MAX_REFERENCE_CHARS = 1 << 20
MAX_RANK = 8
SHOWN_NAMES = 8
SHOWN_CHARS = 64  # of a name that a file gives
MAX_REASON_CHARS = 1000
DTYPES = (
    *("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    *("int64", "int32", "int16", "int8", "bool"),
)
PACKED = ("float4_e2m1", "float4_e2m1fn_x2")  # dtypes that Assay has no tensors of
# Names that the operator's reference.py adds behind the definition's code.
RESERVED = ("inputs", "reference", "cost", "mutants", "shortcuts", "open_elements", "output_axes")
# What the benchmark does not judge by a tolerance for each element: by op_type, and by a part of a
# definition's name.
OWN_TYPES = {
    "sampling": "the outputs are random, and the benchmark compares distributions",
    "moe": "the benchmark accepts 5 % wrong elements",
}
OWN_NAMES = {
    "moe_fp8_block_scale": OWN_TYPES["moe"],
    "dsa_sparse_attention": "the benchmark compares with a rule of its own",
    "dsa_topk_indexer": "the benchmark compares sets of indices",
}


def read_dataset(folder: Path, only: list[str]) -> Dataset:
    """`only` contains names of definitions; empty means all."""
    if not folder.is_dir():
        raise BadFolder(NO_INPUT, f"{folder} is not a folder; it is {FOLDER}")
    paths = sorted((folder / "definitions").rglob("*.json"))
    if not paths:
        raise BadFolder(NO_INPUT, f"{folder} has no definitions/**/*.json; it is {FOLDER}")
    workloads = sorted((folder / "workloads").rglob("*.jsonl"))
    for found, what in ((paths, "definitions"), (workloads, "files with workloads")):
        if len(found) > MAX_FILES:
            raise BadFolder(NO_INPUT, f"{folder} has {len(found)} {what}; the limit is {MAX_FILES}")
    files = [_read_definition(path) for path in paths]
    _refuse_equal_names(files)
    known = {one.definition.name: one for one in files if one.definition}
    broken = {one.name.removesuffix(".json") for one in files if not one.definition}
    files += list(_read_workloads(workloads, known, broken))
    if only:
        unknown = sorted(set(only) - {_label(one) for one in files})
        if unknown:
            names = ", ".join(sorted(known)[:SHOWN_NAMES])
            raise BadFolder(
                NO_INPUT, f"{folder} has no definition {', '.join(unknown)}; it has {names}"
            )
        files = [one for one in files if _label(one) in only]
    for one in files:
        if one.definition and not one.problem and not one.workloads:
            kept = "; ".join(one.left_out[:SHOWN_NAMES])
            one.kind = "no_workload"
            one.problem = kept or (
                f"no workload names it; add workloads/{one.definition.op_type}/"
                f"{one.definition.name}.jsonl"
            )
    return Dataset(folder, files)


def _label(one: DefinitionFile) -> str:
    return one.definition.name if one.definition else one.name.removesuffix(".json")


def _refuse_equal_names(files: list[DefinitionFile]) -> None:
    seen: dict[str, DefinitionFile] = {}
    for one in files:
        for name in {one.name, one.definition.name + ".json" if one.definition else one.name}:
            if name in seen and seen[name] is not one:
                raise BadFolder(
                    BAD_DATA,
                    f"two definitions have the name {name.removesuffix('.json')}; remove one",
                )
            seen[name] = one


def _read_text(path: Path) -> str:
    if not path.is_file() or path.is_symlink():
        raise BadEntry("unreadable", f"{path.name} is not a regular file")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise BadEntry("unreadable", f"it has more than {MAX_FILE_BYTES >> 20} MiB")
    return path.read_text(encoding="utf-8")


def _read_definition(path: Path) -> DefinitionFile:
    one = DefinitionFile(path.name)
    try:
        one.definition = definition_from(json.loads(_read_text(path)))
        check_supported(one.definition)
    except BadEntry as error:
        one.kind, one.problem = error.kind, str(error)
    except (OSError, ValueError, RecursionError) as error:
        one.kind, one.problem = "unreadable", f"it is no JSON: {error}"
    return one


def _text(table: dict[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise BadEntry("bad_definition", f"{where} needs the text `{key}`")
    return value


def _optional_text(table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    return value if isinstance(value, str) else ""


def definition_from(document: Any) -> Definition:
    """Checks the document against the format's rules."""
    if not isinstance(document, dict):
        raise BadEntry("bad_definition", "a definition is a JSON object")
    name = _text(document, "name", "the definition")
    op_type = _text(document, "op_type", "the definition")
    reference = _text(document, "reference", "the definition")
    axes = {str(axis): _axis(axis, table) for axis, table in _object(document, "axes").items()}
    inputs = tuple(_tensor("input", *item, axes) for item in _object(document, "inputs").items())
    outputs = tuple(_tensor("output", *item, axes) for item in _object(document, "outputs").items())
    if not outputs:
        raise BadEntry("bad_definition", "it has no output")
    if both := {one.name for one in inputs} & {one.name for one in outputs}:
        raise BadEntry("bad_definition", f"{min(both)} is both an input and an output; rename one")
    constraints = document.get("constraints") or []
    if not isinstance(constraints, list) or not all(isinstance(one, str) for one in constraints):
        raise BadEntry("bad_definition", "`constraints` is a list of expressions")
    for constraint in constraints:
        try:
            parse(constraint)
        except BadConstraint as error:
            raise BadEntry("bad_constraint", str(error)) from error
    _check_reference(reference)
    description = _optional_text(document, "description")
    fields = (name, op_type, axes, inputs, outputs, reference)
    return Definition(*fields, tuple(constraints), description, document)


def _object(document: dict[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key)
    if not isinstance(value, dict) or "" in value:
        raise BadEntry("bad_definition", f"`{key}` is an object of named entries")
    return value


def _axis(name: str, table: Any) -> int | None:
    kind = table.get("type") if isinstance(table, dict) else None
    if kind == "var":
        return None
    value = table.get("value") if kind == "const" else None
    if type(value) is not int or value < 0:
        raise BadEntry(
            "bad_definition",
            f"axis {name} has the type {kind!r}; valid: var, and const with an integer `value`",
        )
    return value


def _tensor(what: str, name: str, table: Any, axes: dict[str, int | None]) -> Tensor:
    where = f"{what} {name}"
    if not isinstance(table, dict) or "shape" not in table:
        raise BadEntry("bad_definition", f"{where} needs `shape`: names of axes, or null")
    dtype, shape = table.get("dtype"), table["shape"]
    if dtype in PACKED:
        raise BadEntry("unsupported_dtype", f"{where} has the dtype {dtype}, which Assay lacks")
    if dtype not in DTYPES:
        valid = ", ".join(DTYPES)
        raise BadEntry("unknown_dtype", f"{where} has the dtype {dtype!r}; valid: {valid}")
    if shape is not None:
        if not isinstance(shape, list) or len(shape) > MAX_RANK:
            raise BadEntry("bad_definition", f"{where} has no list of at most {MAX_RANK} axes")
        for axis in shape:
            if axis not in axes:
                raise BadEntry(
                    "unknown_axis", f"{where} names the axis {axis!r}; axes: {', '.join(axes)}"
                )
    extents = None if shape is None else tuple(shape)
    return Tensor(name, extents, dtype, _optional_text(table, "description"))


def _check_reference(text: str) -> None:
    if len(text) > MAX_REFERENCE_CHARS:
        raise BadEntry("bad_reference", f"the reference has over {MAX_REFERENCE_CHARS} characters")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadEntry("bad_reference", f"the reference is no Python: {error}") from error
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    if "run" not in defined:
        raise BadEntry("bad_reference", "the reference defines no function `run`")
    if taken := sorted(defined & set(RESERVED)):
        raise BadEntry(
            "bad_reference",
            f"the reference defines {taken[0]}, a name that an operator needs; rename it",
        )


def check_supported(definition: Definition) -> None:
    """Refuses definitions that are right but that Assay cannot judge as the benchmark does."""
    why = OWN_TYPES.get(definition.op_type, "")
    for part, reason in OWN_NAMES.items():
        why = reason if part in definition.name else why
    if why:
        raise BadEntry("own_evaluator", f"{why}; Assay compares each element")
    check_tensors(definition)


def check_tensors(definition: Definition) -> None:
    """Refuses definitions that cannot be operators."""
    tensors = [one for one in definition.inputs if one.shape is not None]
    if not tensors:
        raise BadEntry("no_tensor", "no input is a tensor")
    if zero := [axis for axis, value in definition.axes.items() if value == 0]:
        raise BadEntry("empty_axis", f"the axis {zero[0]} is 0; an operator needs at least 1")


def _read_workloads(
    paths: list[Path], known: dict[str, DefinitionFile], broken: set[str]
) -> Iterator[DefinitionFile]:
    """Adds the workloads to their definitions. Yields an entry for each file with workloads of
    definitions that do not exist. `broken` are the names of definitions that cannot be read."""
    seen: dict[str, set[str]] = {}  # the uuids of each definition
    for path in paths:
        strangers: list[str] = []
        try:
            lines = _read_text(path).splitlines()
        except (OSError, ValueError, BadEntry) as error:
            yield DefinitionFile(path.name, kind="unreadable", problem=f"{path.name}: {error}")
            continue
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            where = f"{path.name}:{number}"
            try:
                entry = json.loads(line)
                name = entry["definition"]
                if not isinstance(name, str):
                    raise TypeError("a name is a text")
            except (ValueError, KeyError, TypeError, RecursionError):
                strangers.append(f"{where} is no JSON object with a `definition`")
                continue
            if name in broken:
                continue
            if name not in known:
                strangers.append(
                    f"{where} names the definition {name[:SHOWN_CHARS]!r}, which does not exist"
                )
                continue
            try:
                read = workload_from(entry, known[name].definition)
                add_workload(known[name], read, seen.setdefault(name, set()))
            # Whatever a line contains, the other lines are read.
            except (BadEntry, ValueError, TypeError, AttributeError, RecursionError) as error:
                leave_out(known[name], f"{where}: {error}")
        if strangers:
            more = f" and {len(strangers) - 1} more" if len(strangers) > 1 else ""
            help_text = "add it to definitions/, or remove the line"
            yield DefinitionFile(
                path.name, kind="unknown_definition", problem=f"{strangers[0]}{more}; {help_text}"
            )


def add_workload(one: DefinitionFile, read: Workload, uuids: set[str]) -> None:
    """`uuids` are those of the workloads that `one` has already."""
    if read.uuid in uuids:
        shown = read.uuid[:SHOWN_CHARS]
        raise BadEntry("bad_workload", f"another workload has the uuid {shown}")
    if len(one.workloads) >= MAX_WORKLOADS:
        raise BadEntry("bad_workload", f"the limit is {MAX_WORKLOADS} workloads of a definition")
    uuids.add(read.uuid)
    one.workloads.append(read)


def leave_out(one: DefinitionFile, why: str) -> None:
    if len(one.left_out) < MAX_WORKLOADS:
        one.left_out.append(why[:MAX_REASON_CHARS])


def workload_from(entry: dict[str, Any], definition: Definition | None) -> Workload:
    assert definition is not None
    document = entry.get("workload")
    if not isinstance(document, dict):
        raise BadEntry("bad_workload", "it has no `workload`")
    uuid, axes, inputs = (document.get(key) for key in ("uuid", "axes", "inputs"))
    if not isinstance(uuid, str) or not uuid:
        raise BadEntry("bad_workload", "it has no `uuid`")
    if not isinstance(axes, dict) or not isinstance(inputs, dict):
        raise BadEntry("bad_workload", "it needs the objects `axes` and `inputs`")
    wanted = {name for name, value in definition.axes.items() if value is None}
    if set(axes) != wanted:
        raise BadEntry(
            "bad_workload", f"it has the axes {sorted(axes)}; the definition has {sorted(wanted)}"
        )
    for axis, value in axes.items():
        if type(value) is not int or value < 1:
            raise BadEntry(
                "empty_axis", f"the axis {axis} is {value!r}; an operator needs at least 1"
            )
    by_name = {one.name: one for one in definition.inputs}
    if unknown := sorted(set(inputs) - set(by_name)):
        raise BadEntry("bad_workload", f"{unknown[0]} is no input; inputs: {', '.join(by_name)}")
    for name, given in inputs.items():
        _check_input(by_name[name], given, definition.custom_inputs)
    return Workload(uuid, axes, inputs, document)


def _check_input(tensor: Tensor, given: Any, custom_inputs: str) -> None:
    kind = given.get("type") if isinstance(given, dict) else None
    if kind == "random" or (kind == "custom" and custom_inputs and tensor.shape is not None):
        return
    if kind == "safetensors" and tensor.shape is not None:
        if all(isinstance(given.get(key), str) for key in ("path", "tensor_key")):
            return
        raise BadEntry("bad_workload", f"input {tensor.name} needs `path` and `tensor_key`")
    if kind == "scalar" and tensor.shape is None:
        if isinstance(given.get("value"), int | float):
            return
        raise BadEntry("bad_workload", f"input {tensor.name} needs a number or a bool as `value`")
    valid = "random or scalar" if tensor.shape is None else "random or safetensors"
    raise BadEntry("bad_workload", f"input {tensor.name} has the type {kind!r}; valid: {valid}")
