"""Makes definitions and workloads of FlashInfer Trace from an operator of Assay.

    for exported in definitions_of(Path("operators/standard/vector_add"), max_tensor_bytes=64 << 20):
        exported.document, exported.workloads

Only public cases become workloads. An operator whose tensors have the dtype of the case becomes one
definition for each dtype. The operator's own code draws the inputs, as in a judge; so export only
suites that you trust."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "sandbox"), str(ROOT / "importers/common")]

import torch  # noqa: E402
from export_reference import NoReference, reference_code  # noqa: E402
from harness.operator import Case, NeedsGpu, Operator, OperatorError, Rng  # noqa: E402
from harness.wire.tensors import DTYPES, name_of  # noqa: E402
from trace_cases import itemsize  # noqa: E402
from trace_dataset import DTYPES as FORMAT_DTYPES  # noqa: E402
from trace_dataset import OWN_TYPES  # noqa: E402

SCALARS = {"int": "int64", "float": "float32", "bool": "bool"}
SEED = 1  # of the tensors that are exported; a grade draws its own seeds
# A float input is `random` if at least this share of it is what Rng.normal() drew.
NORMAL_SHARE = 0.99
NAMESPACE = uuid.UUID("6f4c0a3e-5a0e-4d0c-9a57-3d7f8e2b9c11")
DEFINITION = "definition.json"  # of an operator that was imported from a definition


class NotExported(Exception):
    """The operator or the case cannot be expressed in the format. The message says why."""


@dataclass
class Exported:
    document: dict[str, Any]
    workloads: list[dict[str, Any]] = field(default_factory=list)
    cases: dict[str, str] = field(default_factory=dict)  # case to the uuid of its workload
    # Files to write, below the dataset's folder: the tensors by key.
    tensors: dict[str, dict[str, torch.Tensor]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    scale: float = 1.0  # the least factor by which errors are multiplied in records
    written: dict[str, str] = field(default_factory=dict)  # output to its inout argument
    is_imported: bool = False


class _Watch(Rng):
    """Keeps what normal() draws."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, "cpu")
        self.drawn: list[torch.Tensor] = []

    def normal(self, shape: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        value = super().normal(shape, dtype)
        self.drawn.append(value.clone())
        return value

    def is_normal(self, value: torch.Tensor) -> bool:
        return value.is_floating_point() and any(
            one.shape == value.shape
            and float((one.to(value.dtype) == value).double().mean()) >= NORMAL_SHARE
            for one in self.drawn
        )


def definitions_of(folder: Path, max_tensor_bytes: int) -> list[Exported]:
    """Raises NotExported, or OperatorError if the operator's files are wrong."""
    operator = Operator.load(folder)
    if (folder / DEFINITION).exists():
        return [_as_imported(folder)]
    if operator.imported:
        raise NotExported("its reference is a kernel of the benchmark that it was imported from")
    wires = [wire for wire in operator.spec["cases"] if wire["visibility"] == "public"]
    by_case = any(one.dtype == "case" for one in (*operator.arguments, *operator.outputs))
    dtypes = list(dict.fromkeys(wire["dtype"] for wire in wires)) if by_case else [""]
    made = []
    for dtype in dtypes:
        name = operator.name if len(dtypes) == 1 else f"{operator.name}_{dtype}"
        chosen = [wire for wire in wires if dtype in ("", wire["dtype"])]
        made.append(_Maker(operator, name, chosen, max_tensor_bytes).exported())
    return made


def _as_imported(folder: Path) -> Exported:
    """Returns the definition and the workloads as they were imported. Tensors of the dataset's
    files are written again."""
    known = json.loads((folder / DEFINITION).read_text(encoding="utf-8"))
    made = Exported(known["definition"], is_imported=True)
    cases = {uuid_: case for case, uuid_ in known["cases"].items()}
    for document in known["workloads"]:
        case = cases.get(document["uuid"])
        if case is None:
            continue
        stored = known["draws"][case]["tensors"]
        for name, wire in stored.items():
            given = document["inputs"][name]
            data = bytearray((folder / wire["file"]).read_bytes())
            value = torch.frombuffer(data, dtype=DTYPES[wire["dtype"]]).reshape(wire["shape"])
            made.tensors.setdefault(given["path"], {})[given["tensor_key"]] = value
        made.workloads.append(document)
        made.cases[case] = document["uuid"]
    return made


class _Maker:
    def __init__(
        self, operator: Operator, name: str, wires: list[dict[str, Any]], max_tensor_bytes: int
    ) -> None:
        self._operator = operator
        self._name = name
        self._wires = wires
        self._max_tensor_bytes = max_tensor_bytes
        self._axes: dict[str, dict[str, Any]] = {}
        self._products: dict[str, str] = {}  # name of an axis to the product that it is
        self._case = operator.case(wires[0], "cpu")

    def exported(self) -> Exported:
        operator, spec = self._operator, self._operator.spec
        family = spec["family"]
        inputs = {
            one.name: self._input(one, table)
            for one, table in zip(operator.arguments, spec["arguments"], strict=True)
        }
        outputs = {}
        made = Exported({})
        for one in operator.outputs:
            name = f"{one.name}_out" if one.name in inputs else one.name
            dtype = self._dtype(one.dtype, one.name)
            note = f"{one.source} after the call" if one.source else f"the output {one.name}"
            outputs[name] = {"shape": self._shape(one.shape), "dtype": dtype, "description": note}
            if one.source:
                made.written[name] = one.source
        source = (operator.folder / "reference.py").read_text(encoding="utf-8")
        try:
            reference = reference_code(source, list(inputs))
        except NoReference as error:
            raise NotExported(str(error)) from error
        made.document = {
            "name": self._name,
            "op_type": f"assay_{family}" if family in OWN_TYPES else family,
            "description": spec["description"].strip(),
            "tags": [f"assay:{operator.name}"],
            "axes": self._axes,
            "inputs": inputs,
            "outputs": outputs,
            "constraints": [f"{name} == {text}" for name, text in self._products.items()],
            "reference": reference,
        }
        scales: list[float] = []
        for wire in self._wires:
            case = operator.case(wire, "cpu")
            scales += [operator.scale(one, case) for one in operator.outputs]
            try:
                self._add_workload(made, case)
            except (NotExported, NeedsGpu) as error:
                made.left_out.append(f"{operator.name}, case {case.id}: {error}")
        made.scale = min(scales)
        return made

    def _dtype(self, name: str, where: str) -> str:
        dtype = name_of(self._operator.dtype_of(name, self._case))
        if dtype not in FORMAT_DTYPES:
            raise NotExported(f"{where} has the dtype {dtype}, which the format lacks")
        return dtype

    def _input(self, one: Any, table: dict[str, Any]) -> dict[str, Any]:
        description = str(table.get("description") or one.name)
        if one.type != "tensor":
            return {"shape": None, "dtype": SCALARS[one.type], "description": description}
        dtype = self._dtype(one.dtype, one.name)
        return {"shape": self._shape(one.shape), "dtype": dtype, "description": description}

    def _shape(self, extents: tuple[str | int, ...]) -> list[str]:
        return [self._axis(extent) for extent in extents]

    def _axis(self, extent: str | int) -> str:
        """Returns the axis of an extent, such as "rows", 128 or "2*rows". A product becomes an axis
        of its own with a constraint."""
        factors = [part.strip() for part in str(extent).split("*")]
        name = "_x_".join(f"size_{one}" if one.isdigit() else one for one in factors)
        numbers = [int(one) for one in factors if one.isdigit()]
        if len(numbers) == len(factors):
            value = 1
            for number in numbers:
                value *= number
            self._axes[name] = {"type": "const", "value": value, "description": "a fixed size"}
            return name
        self._axes.setdefault(name, {"type": "var", "description": f"the extent {extent}"})
        if len(factors) > 1:
            self._products[name] = " * ".join(factors)
            for one in factors:
                if not one.isdigit():
                    self._axis(one)
        return name

    def _sizes(self, case: Case) -> dict[str, int]:
        sizes = {}
        for name, table in self._axes.items():
            if table["type"] == "const":
                continue
            value = 1
            for part in self._products.get(name, name).split(" * "):
                value *= int(part) if part.isdigit() else case.axes[part]
            sizes[name] = value
        return sizes

    def _add_workload(self, made: Exported, case: Case) -> None:
        held = sum(
            itemsize(table["dtype"]) * _count(table["shape"], self._axes, self._sizes(case))
            for table in made.document["inputs"].values()
            if table["shape"] is not None
        )
        inputs, tensors = self._inputs(case, held)
        uuid_ = str(uuid.uuid5(NAMESPACE, f"{self._name}/{case.id}"))
        if tensors:
            path = f"blob/workloads/{made.document['op_type']}/{self._name}/{case.id}.safetensors"
            for name in tensors:
                inputs[name] = {"type": "safetensors", "path": path, "tensor_key": name}
            made.tensors[path] = tensors
        made.workloads.append({"uuid": uuid_, "axes": self._sizes(case), "inputs": inputs})
        made.cases[case.id] = uuid_

    def _inputs(
        self, case: Case, held: int
    ) -> tuple[dict[str, dict[str, Any]], dict[str, torch.Tensor]]:
        """Returns the workload's inputs, and the tensors that a file must hold. The inputs of a
        large case are looked at in a smaller case with the same dtype and distribution."""
        probe = case
        if held > self._max_tensor_bytes:
            probe = self._smaller(case)
        watch = _Watch(SEED)
        drawn = self._operator.module.inputs(probe, watch)
        if probe is not case:  # numbers may depend on the sizes
            drawn.update(self._scalars(case))
        inputs: dict[str, dict[str, Any]] = {}
        tensors: dict[str, torch.Tensor] = {}
        for one in self._operator.arguments:
            value = drawn[one.name]
            if one.type != "tensor":
                inputs[one.name] = {"type": "scalar", "value": value}
            elif watch.is_normal(value):
                inputs[one.name] = {"type": "random"}
            else:
                inputs[one.name] = {}
                tensors[one.name] = value.contiguous()
        if tensors and probe is not case:
            limit = self._max_tensor_bytes >> 20
            raise NotExported(
                f"its {', '.join(tensors)} must be stored, and its inputs have over {limit} MiB; "
                "--tensor-mib N stores more"
            )
        return inputs, tensors

    def _scalars(self, case: Case) -> dict[str, Any]:
        shapes = self._operator.shapes(case)
        if shapes is None:
            raise NotExported("its numbers may depend on values, and its inputs are too large")
        return {
            name: value for name, value in shapes.items() if not isinstance(value, torch.Tensor)
        }

    def _smaller(self, case: Case) -> Case:
        for wire in self._operator.spec["cases"]:
            if wire["visibility"] != "public" or wire["distribution"] != case.distribution:
                continue
            other = self._operator.case({**wire, "dtype": name_of(case.dtype)}, "cpu")
            if sum(other.axes.values()) < sum(case.axes.values()):
                return other
        limit = self._max_tensor_bytes >> 20
        raise NotExported(f"its inputs have over {limit} MiB; --tensor-mib N draws larger ones")


def _count(shape: list[str], axes: dict[str, Any], sizes: dict[str, int]) -> int:
    count = 1
    for axis in shape:
        count *= sizes[axis] if axis in sizes else axes[axis]["value"]
    return count


def all_definitions(
    operators: list[dict[str, str]], max_tensor_bytes: int
) -> Iterator[tuple[str, list[Exported], str]]:
    """Yields the name of each operator, its definitions, and why there is none."""
    for one in operators:
        try:
            yield one["name"], definitions_of(Path(one["directory"]), max_tensor_bytes), ""
        except (NotExported, OperatorError) as error:
            yield one["name"], [], str(error)
