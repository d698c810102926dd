"""Reads an operator's folder for the judge: spec.toml and reference.py
(docs/reference/operator-format.md). A candidate never imports this module.

    operator = Operator.load(Path("operators/standard/vector_add"))
    case = operator.case({"id": "small", "axes": {"rows": 7}, "dtype": "float32", "distribution": "normal"}, "cpu")
    arguments = operator.inputs(case, seed=1)
    expected = operator.reference(arguments)

A reference.py imports `Case`, `Cost` and `Rng` from this module. Every error in an operator's files
is an OperatorError whose message names the file and the key."""

from __future__ import annotations

import importlib.util
import itertools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from harness.wire.tensors import DTYPES, bits, name_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NOTHING_TO_JUDGE = (
    "no answer to this case can be judged: every element of its outputs depends on memory that "
    "was never written, or is unchanged from the input"
)
_SCALARS: dict[str, type] = {"int": int, "float": float, "bool": bool}
_ROLES = ("input", "inout", "structural")
_counter = itertools.count()

Arguments = dict[str, Any]


class OperatorError(Exception):
    """An error in the operator's files. It is never the submission's fault."""


@dataclass(frozen=True)
class Case:
    """One set of axes, dtype and distribution of an operator."""

    id: str
    axes: dict[str, int]
    dtype: torch.dtype
    distribution: str
    device: torch.device


@dataclass(frozen=True)
class Cost:
    """The minimum traffic and work of any implementation. A measured time below this minimum is
    rejected."""

    bytes: float
    flops: float
    # Bytes of arguments and outputs that an implementation need not touch. For example, an inout
    # argument counts twice in `bytes`, but an update of a cache writes only a few slots.
    untouched: float = 0


class Rng:
    """Draws random tensors on the case's device from one seed. Floating tensors are drawn in
    float32 and rounded once."""

    def __init__(self, seed: int, device: torch.device | str) -> None:
        self.device = torch.device(device)
        self._generator = torch.Generator(self.device)
        self._generator.manual_seed(seed)

    def normal(self, shape: Sequence[int], dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Standard normal values."""
        return self._float(torch.randn, shape, dtype)

    def uniform(
        self,
        shape: Sequence[int],
        dtype: torch.dtype = torch.float32,
        low: float = 0.0,
        high: float = 1.0,
    ) -> torch.Tensor:
        """Values in [low, high)."""
        drawn = self._float(
            torch.rand, shape, torch.float64 if dtype is torch.float64 else torch.float32
        )
        return (drawn * (high - low) + low).to(dtype)

    def integers(
        self, shape: Sequence[int], low: int, high: int, dtype: torch.dtype = torch.int64
    ) -> torch.Tensor:
        """Integers from low up to, but not including, high."""
        drawn = torch.randint(
            low,
            high,
            tuple(shape),
            generator=self._generator,
            device=self.device,
            dtype=torch.int64,
        )
        return drawn.to(dtype)

    def permutation(self, n: int) -> torch.Tensor:
        """0 .. n-1 in random order, int64."""
        return torch.randperm(n, generator=self._generator, device=self.device)

    def _float(self, draw: Any, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        wide = torch.float64 if dtype is torch.float64 else torch.float32
        values: torch.Tensor = draw(
            tuple(shape), generator=self._generator, device=self.device, dtype=wide
        )
        return values.to(dtype)


@dataclass(frozen=True)
class Argument:
    name: str
    type: str
    dtype: str
    shape: tuple[str | int, ...]
    role: str


@dataclass(frozen=True)
class Output:
    name: str
    dtype: str
    shape: tuple[str | int, ...]
    max_abs_error: float
    scale: str | int | float
    source: str  # the inout argument that holds this output, or "" for a returned output


def extent(expression: str | int | float, axes: dict[str, int]) -> float:
    """Evaluates an extent such as "rows", 128 or "2*rows*cols"."""
    if not isinstance(expression, str):
        return expression
    factors = []
    for part in expression.split("*"):
        name = part.strip()
        if name in axes:
            factors.append(float(axes[name]))
            continue
        try:
            factors.append(float(name))
        except ValueError:
            raise OperatorError(
                f"{expression!r}: {name!r} is neither a number nor one of the axes {', '.join(axes)}"
            ) from None
    value = float(math.prod(factors))
    return int(value) if value.is_integer() else value


def _shape(extents: tuple[str | int, ...], axes: dict[str, int]) -> list[int]:
    return [int(extent(value, axes)) for value in extents]


class Operator:
    """An operator's specification and reference functions (see the module's docstring)."""

    def __init__(self, folder: Path, spec: dict[str, Any], module: ModuleType) -> None:
        self.folder = folder
        self.spec = spec
        self.name = str(spec.get("name", folder.name))
        self.module = module
        self.imported = spec.get("imported") is True
        where = folder / "spec.toml"
        self.arguments = [_argument(table, where) for table in _tables(spec, "arguments", where)]
        self.outputs = [_output(table, where) for table in _tables(spec, "outputs", where)]
        for output in self.outputs:
            if output.source and output.source not in [
                a.name for a in self.arguments if a.role == "inout"
            ]:
                raise OperatorError(
                    f"{where}: output {output.name} is `from` {output.source!r}, which is not an inout argument"
                )

    @classmethod
    def load(cls, folder: Path) -> Operator:
        where = folder / "spec.toml"
        try:
            spec = tomllib.loads(where.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise OperatorError(f"{where}: {error}") from error
        return cls(folder, spec, _load_module(folder / "reference.py"))

    def case(self, wire: dict[str, Any], device: str) -> Case:
        """Builds a Case from its form on the wire or in spec.toml."""
        if wire.get("dtype") not in DTYPES:
            raise OperatorError(
                f"case {wire.get('id')!r}: dtype {wire.get('dtype')!r} is none of {', '.join(DTYPES)}"
            )
        axes = {name: int(value) for name, value in wire["axes"].items()}
        return Case(
            str(wire["id"]),
            axes,
            DTYPES[wire["dtype"]],
            str(wire["distribution"]),
            torch.device(device),
        )

    def inputs(self, case: Case, seed: int) -> Arguments:
        """Returns fresh arguments in call order, checked against the spec."""
        made = self.module.inputs(case, Rng(seed, case.device))
        names = [argument.name for argument in self.arguments]
        if not isinstance(made, dict) or set(made) != set(names):
            raise OperatorError(
                f"{self.name}: inputs() returned {sorted(made) if isinstance(made, dict) else made!r}; want {names}"
            )
        for argument in self.arguments:
            self._check_argument(argument, made[argument.name], case)
        return {name: made[name] for name in names}

    def _check_argument(self, argument: Argument, value: Any, case: Case) -> None:
        where = f"{self.name}, case {case.id}: argument {argument.name}"
        if argument.type != "tensor":
            if type(value) is not _SCALARS[argument.type]:
                raise OperatorError(
                    f"{where} is a {type(value).__name__}; the spec says {argument.type}"
                )
            return
        if not isinstance(value, torch.Tensor):
            raise OperatorError(f"{where} is a {type(value).__name__}; the spec says tensor")
        dtype, shape = self.dtype_of(argument.dtype, case), _shape(argument.shape, case.axes)
        if value.dtype != dtype or list(value.shape) != shape:
            raise OperatorError(
                f"{where} is {name_of(value.dtype)} {list(value.shape)}; the spec says {name_of(dtype)} {shape}"
            )
        if value.device.type != case.device.type:
            raise OperatorError(f"{where} is on {value.device}; want {case.device}")

    def reference(self, arguments: Arguments) -> list[torch.Tensor]:
        """Returns every output in the spec's order."""
        with torch.no_grad():
            returned = self.module.reference(**arguments)
        outputs = list(returned) if isinstance(returned, tuple | list) else [returned]
        if len(outputs) != len(self.outputs) or not all(
            isinstance(output, torch.Tensor) for output in outputs
        ):
            raise OperatorError(
                f"{self.name}: reference() must return {len(self.outputs)} tensors, one for each output of the spec"
            )
        return outputs

    def own_mutants(self, arguments: Arguments) -> dict[str, list[torch.Tensor]]:
        """Returns the outputs of the operator's own deliberately wrong variants, by name. The
        result is empty if reference.py defines no `mutants`."""
        if not hasattr(self.module, "mutants"):
            return {}
        with torch.no_grad():
            named = self.module.mutants(**arguments)
        if not isinstance(named, dict):
            raise OperatorError(
                f"{self.name}: mutants() returned a {type(named).__name__}; want a dict of name to outputs"
            )
        made = {
            name: list(value) if isinstance(value, tuple | list) else [value]
            for name, value in named.items()
        }
        for name, outputs in made.items():
            if len(outputs) != len(self.outputs) or not all(
                isinstance(output, torch.Tensor) for output in outputs
            ):
                raise OperatorError(
                    f"{self.name}: mutant {name!r} must have {len(self.outputs)} tensors, one for each output of the spec"
                )
        return made

    def expected(self, case: Case, arguments: Arguments) -> list[torch.Tensor]:
        """Returns the reference's outputs, checked against the spec's dtypes and shapes."""
        outputs = self.reference(arguments)
        for output, value in zip(self.outputs, outputs, strict=True):
            dtype, shape = self.dtype_of(output.dtype, case), self.output_shape(output, case)
            if value.dtype != dtype or list(value.shape) != shape:
                got = f"{name_of(value.dtype)} {list(value.shape)}"
                raise OperatorError(
                    f"{self.name}, case {case.id}: reference gave {output.name} as {got}; the spec says {name_of(dtype)} {shape}"
                )
        return outputs

    def _hook(self, name: str) -> Any:
        """Returns a function that only imported operators may define, or None. Other operators may
        not define one, because each of these functions exempts answers from checking."""
        if hasattr(self.module, name) and not self.imported:
            raise OperatorError(
                f"{self.name}: reference.py defines {name}(), which is for imported operators"
            )
        return getattr(self.module, name, None)

    def with_output_axes(self, case: Case, arguments: Arguments) -> Case:
        """Returns the case with the axes of outputs whose shapes depend on values. An imported
        operator's `output_axes` computes these axes."""
        hook = self._hook("output_axes")
        if hook is None:
            return case
        with torch.no_grad():
            axes = hook(case, arguments)
        if unknown := sorted(set(axes) - set(case.axes)):
            raise OperatorError(
                f"{self.name}, case {case.id}: output_axes() has {', '.join(unknown)}, which is not an axis"
            )
        return replace(case, axes={**case.axes, **axes})

    def open_elements(
        self, expected: Sequence[torch.Tensor], arguments: Arguments
    ) -> list[torch.Tensor]:
        """Returns, for each output, a mask of the elements that are exempt from checking. Only an
        imported operator's reference.py defines `open_elements`; for all others the list is
        empty."""
        hook = self._hook("open_elements")
        if hook is None:
            return []
        with torch.no_grad():
            masks = list(hook(**arguments))
        wanted = [(torch.bool, x.shape) for x in expected]
        if [
            (getattr(mask, "dtype", None), getattr(mask, "shape", None)) for mask in masks
        ] != wanted:
            raise OperatorError(
                f"{self.name}: open_elements() must return one bool mask for each output, with the output's shape"
            )
        pairs = list(zip(self.outputs, expected, masks, strict=True))
        if any(bool(mask.any()) for mask in masks) and not any(
            self._has_checked_element(*pair, arguments) for pair in pairs
        ):
            raise OperatorError(f"{self.name}: {NOTHING_TO_JUDGE}")
        return masks

    @staticmethod
    def _has_checked_element(
        output: Output, right: torch.Tensor, mask: torch.Tensor, arguments: Arguments
    ) -> bool:
        """Returns True if the case checks at least one element: it is not open, and it differs from
        the initial content of the argument that holds the output."""
        if not output.source:
            return not bool(mask.all())
        before = arguments[output.source].reshape(right.shape).to(right.dtype)
        return bool((~mask.reshape(-1) & (bits(right) != bits(before))).any())

    def in_float64(self, arguments: Arguments) -> list[torch.Tensor] | None:
        """Returns the reference's outputs with every floating tensor widened to float64, or None if
        there is no floating tensor."""
        wide = {
            name: value.double() if is_floating(value) else value
            for name, value in arguments.items()
        }
        if not any(is_floating(value) for value in arguments.values()):
            return None
        return self.reference(wide)

    def cost(self, case: Case) -> Cost:
        made = self.module.cost(case)
        if not isinstance(made, Cost):
            raise OperatorError(
                f"{self.name}: cost() returned a {type(made).__name__}; want harness.operator.Cost"
            )
        return made

    def dtype_of(self, name: str, case: Case) -> torch.dtype:
        return case.dtype if name == "case" else DTYPES[name]

    def output_shape(self, output: Output, case: Case) -> list[int]:
        return _shape(output.shape, case.axes)

    def named_axes(self, case: Case) -> dict[str, int]:
        """Returns the axes that occur in shapes. Other axes are private to the operator: they could
        reveal something about a case that no argument shows."""
        shapes = [argument.shape for argument in self.arguments] + [
            output.shape for output in self.outputs
        ]
        names = {
            part.strip()
            for shape in shapes
            for extent in shape
            if isinstance(extent, str)
            for part in extent.split("*")
        }
        return {name: value for name, value in case.axes.items() if name in names}

    def scale(self, output: Output, case: Case) -> float:
        return float(extent(output.scale, case.axes))


def is_floating(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _tables(spec: dict[str, Any], key: str, where: Path) -> list[dict[str, Any]]:
    found = spec.get(key)
    if (
        not isinstance(found, list)
        or not found
        or not all(isinstance(table, dict) for table in found)
    ):
        raise OperatorError(f"{where}: needs at least one [[{key}]]")
    return found


def _argument(table: dict[str, Any], where: Path) -> Argument:
    name, kind = table.get("name"), table.get("type")
    if not isinstance(name, str) or kind not in ("tensor", *_SCALARS):
        raise OperatorError(
            f"{where}: argument {name!r} has type {kind!r}; want tensor, int, float or bool"
        )
    dtype, role = str(table.get("dtype", "")), str(table.get("role", "input"))
    if kind == "tensor" and dtype != "case" and dtype not in DTYPES:
        raise OperatorError(
            f"{where}: argument {name} has dtype {dtype!r}; want case or one of {', '.join(DTYPES)}"
        )
    if role not in _ROLES:
        raise OperatorError(
            f"{where}: argument {name} has role {role!r}; want one of {', '.join(_ROLES)}"
        )
    return Argument(name, str(kind), dtype, tuple(table.get("shape", ())), role)


def _output(table: dict[str, Any], where: Path) -> Output:
    name, dtype = table.get("name"), table.get("dtype")
    if not isinstance(name, str) or (dtype != "case" and dtype not in DTYPES):
        raise OperatorError(
            f"{where}: output {name!r} has dtype {dtype!r}; want case or one of {', '.join(DTYPES)}"
        )
    return Output(
        name,
        str(dtype),
        tuple(table.get("shape", ())),
        float(table.get("max_abs_error", 0.01)),
        table.get("scale", 1),
        str(table.get("from", "")),
    )


def _load_module(path: Path) -> ModuleType:
    name = f"assay_reference_{next(_counter)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise OperatorError(f"{path}: no such file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise OperatorError(f"{path}: {type(error).__name__}: {error}") from error
    for function in ("inputs", "reference", "cost"):
        if not callable(getattr(module, function, None)):
            raise OperatorError(f"{path}: defines no {function}()")
    return module
