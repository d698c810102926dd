"""Defines an operator: its specification, the functions of its reference.py, and the checks of the
values that these functions return. An error in the operator's files raises an OperatorError. Its
message names the operator or the file, and what is wrong."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import torch

from harness.operator.cases import Case, Cost, Rng, ShapeRng
from harness.operator.spec import (
    SCALARS,
    Adversary,
    Argument,
    Baseline,
    NothingToJudge,
    OperatorError,
    Output,
    adversary_of,
    argument_of,
    baseline_of,
    extent,
    indistinguishable_of,
    output_of,
    shape_of,
    tables,
)
from harness.wire.tensors import DTYPES, bits, name_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NOTHING_TO_JUDGE = (
    "no answer to this case can be judged: every element of its outputs depends on memory that "
    "was never written, or is unchanged from the input"
)
_counter = itertools.count()

Arguments = dict[str, Any]


class Operator:
    """An operator's specification and reference functions (see the package's docstring)."""

    def __init__(self, folder: Path, spec: dict[str, Any], module: ModuleType) -> None:
        self.folder = folder
        self.spec = spec
        self.name = str(spec.get("name", folder.name))
        self.module = module
        self.imported = spec.get("imported") is True
        self.is_layout = spec.get("family") == "layout"
        where = folder / "spec.toml"
        self.baseline = baseline_of(spec, where)
        # Then the reference is the benchmark's own kernel. Otherwise it is a function of torch.
        self.is_golden = self.imported and self.baseline is Baseline.ORACLE
        self.arguments = [argument_of(table, where) for table in tables(spec, "arguments", where)]
        self.outputs = [output_of(table, where) for table in tables(spec, "outputs", where)]
        self.adversaries: list[Adversary] = [
            adversary_of(table) for table in spec.get("adversarial", [])
        ]
        self.indistinguishable = [
            indistinguishable_of(table, where) for table in spec.get("indistinguishable", [])
        ]
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
        """Builds a Case from a table of spec.toml or an object of a message, which have the same
        form."""
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
        """Returns new arguments in call order, after checking them against the spec."""
        return self._checked(case, self.module.inputs(case, Rng(seed, case.device)))

    def shapes(self, case: Case) -> Arguments | None:
        """Returns the arguments of a case without values: tensors on the device `meta`, and
        scalars. Returns None if the arguments, or the shapes of the outputs, may depend on values
        that a seed decides. So a result that is not None is the same for every seed."""
        structural = any(argument.role == "structural" for argument in self.arguments)
        if structural or self._hook("output_axes") is not None:
            return None
        described = replace(case, device=torch.device("meta"))
        try:
            return self._checked(described, self.module.inputs(described, ShapeRng()))
        except Exception:  # inputs() reads values, or creates tensors on another device
            return None

    def _checked(self, case: Case, made: Any) -> Arguments:
        """Checks the result of reference.py's inputs() against the spec. Returns the arguments in
        call order."""
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
            if type(value) is not SCALARS[argument.type]:
                raise OperatorError(
                    f"{where} is a {type(value).__name__}; the spec says {argument.type}"
                )
            return
        if not isinstance(value, torch.Tensor):
            raise OperatorError(f"{where} is a {type(value).__name__}; the spec says tensor")
        dtype, shape = self.dtype_of(argument.dtype, case), shape_of(argument.shape, case.axes)
        if value.dtype != dtype or list(value.shape) != shape:
            raise OperatorError(
                f"{where} is {name_of(value.dtype)} {list(value.shape)}; the spec says {name_of(dtype)} {shape}"
            )
        if value.device.type != case.device.type:
            raise OperatorError(f"{where} is on {value.device}; want {case.device}")

    def reference(self, arguments: Arguments) -> list[torch.Tensor]:
        """Returns all outputs of the reference, in the spec's order."""
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

    def timed_call(self, arguments: Arguments) -> tuple[Callable[..., Any], list[Any]]:
        """Returns the function that computes the reference's outputs when it is timed, and its
        arguments. The function `timed` of an imported operator returns them, so that a time does
        not contain preparations that the benchmark does not time."""
        hook = self._hook("timed")
        if hook is None:
            return self.reference, [arguments]
        with torch.no_grad():
            function, given = hook(**arguments)
        return function, list(given)

    def own_mutants(self, arguments: Arguments) -> dict[str, list[torch.Tensor]]:
        """Returns the outputs of the operator's own mutants (deliberately wrong variants) by name.
        The result is empty if reference.py defines no `mutants`."""
        return self._variants("mutants", arguments)

    def own_shortcuts(self, arguments: Arguments) -> dict[str, list[torch.Tensor]]:
        """Returns the outputs of kernels that take a shortcut, by the shortcut's name. The result
        is empty if reference.py defines no `shortcuts`."""
        return self._variants("shortcuts", arguments)

    def _variants(self, function: str, arguments: Arguments) -> dict[str, list[torch.Tensor]]:
        if not hasattr(self.module, function):
            return {}
        with torch.no_grad():
            named = getattr(self.module, function)(**arguments)
        if not isinstance(named, dict):
            raise OperatorError(
                f"{self.name}: {function}() returned a {type(named).__name__}; want a dict of name to outputs"
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
                    f"{self.name}: {function.removesuffix('s')} {name!r} must have {len(self.outputs)} tensors, "
                    "one for each output of the spec"
                )
        return made

    def expected(self, case: Case, arguments: Arguments) -> list[torch.Tensor]:
        """Returns the reference's outputs, after checking their dtypes and shapes against the
        spec."""
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
        """Returns the function of reference.py with this name, or None if there is none. Raises
        OperatorError if the operator is not imported but defines the function, because the function
        weakens the checks of answers."""
        if hasattr(self.module, name) and not self.imported:
            raise OperatorError(
                f"{self.name}: reference.py defines {name}(), which is for imported operators"
            )
        return getattr(self.module, name, None)

    def with_output_axes(self, case: Case, arguments: Arguments) -> Case:
        """Returns the case with corrected axes if shapes of outputs depend on values. The function
        `output_axes` of an imported operator computes these axes."""
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
        imported operator can define `open_elements`; for all other operators the list is empty."""
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
            raise NothingToJudge(f"{self.name}: {NOTHING_TO_JUDGE}")
        return masks

    @staticmethod
    def _has_checked_element(
        output: Output, right: torch.Tensor, mask: torch.Tensor, arguments: Arguments
    ) -> bool:
        """Returns True if at least one element of the output is checked. A checked element is not
        exempt. If the output is an inout argument, a checked element also differs from the initial
        element of the argument."""
        if not output.source:
            return not bool(mask.all())
        before = arguments[output.source].reshape(right.shape).to(right.dtype)
        return bool((~mask.reshape(-1) & (bits(right) != bits(before))).any())

    def in_float64(self, arguments: Arguments) -> list[torch.Tensor] | None:
        """Returns the outputs of the reference for arguments whose floating-point tensors are
        converted to float64. Returns None if there is no floating-point tensor, or if the reference
        of an imported operator is written for fixed dtypes (`NO_FLOAT64 = True`)."""
        if self._hook("NO_FLOAT64"):
            return None
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
        return shape_of(output.shape, case.axes)

    def named_axes(self, case: Case) -> dict[str, int]:
        """Returns the axes that occur in the shapes of arguments or outputs. A candidate gets only
        these axes, because the other axes could reveal facts about a case that its arguments do not
        show."""
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


class _SourceLoader(SourceFileLoader):
    """Compiles the file each time. Python uses cached bytecode if the file's size and its
    modification time in seconds are the same as before, so it would miss an edit within a
    second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def module_of(path: Path, name: str) -> tuple[ModuleType, Callable[[], None]]:
    """Returns a new module and the function that executes the file's text in it. Cached bytecode
    is never used. Raises OperatorError if there is no such file."""
    if not path.exists():
        raise OperatorError(f"{path}: no such file")
    loader = _SourceLoader(name, str(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    return module, lambda: loader.exec_module(module)


def _load_module(path: Path) -> ModuleType:
    module, execute = module_of(path, f"assay_reference_{next(_counter)}")
    try:
        execute()
    except Exception as error:
        raise OperatorError(f"{path}: {type(error).__name__}: {error}") from error
    for function in ("inputs", "reference", "cost"):
        if not callable(getattr(module, function, None)):
            raise OperatorError(f"{path}: defines no {function}()")
    return module
