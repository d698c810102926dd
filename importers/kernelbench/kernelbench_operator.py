"""Writes a problem of KernelBench as the folder of one operator (docs/reference/operator-format.md).

    write_operator(folder, golden, Analysis(...))

The folder contains spec.toml, whose adapter makes an object of the submission's class; problem.py,
which is the benchmark's file; interface.json, which says how the arguments of the operator get into
Model; and reference.py, whose functions are those of harness/imported/problem.py. There is no
oracle, because the benchmark has none."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "importers/common"), str(ROOT / "sandbox")]

import torch  # noqa: E402
from benchmark_file import GoldenFile  # noqa: E402
from harness.imported.problem import INTERFACE_FILE, PROBLEM_FILE, digest_of, text_of  # noqa: E402
from harness.wire.tensors import NAMES  # noqa: E402
from kernelbench_meter import Measured  # noqa: E402

SUBMISSION = "ModelNew"
PROVENANCE_TOLERANCE = "torch.allclose with atol = rtol = 1e-4 for float32, 1e-2 for 16-bit floats"
# The tolerance of an output, as a share of an element's magnitude or of the output's root mean
# square. The first is the benchmark's own number. Triton multiplies float32 matrices in TF32 unless
# it is told otherwise, and such products are off by about the second.
EXACT_ERROR, PRODUCT_ERROR, MOST_ERROR = 1e-4, 2e-3, 1e-2
# The part of the inputs' bytes and of the counted operations that surely are needed. Some problems
# need not read all of their inputs, such as a product with a triangular matrix.
SURE_SHARE = 0.125
NAME_CHARS = 60
SCALARS = {bool: "bool", int: "int", float: "float"}
REFERENCE = '''"""Made by `assay import`. The expected outputs are those of the class Model in problem.py."""

from pathlib import Path

from harness.imported.problem import Problem

_PROBLEM = Problem(Path(__file__).parent, {digest!r})


def inputs(case, rng):
    return _PROBLEM.inputs(case, rng)


def reference({names}):
    return _PROBLEM.reference({{{pairs}}})


def timed({names}):
    return _PROBLEM.timed({{{pairs}}})


def cost(case):
    return _PROBLEM.cost(case)
'''


@dataclass
class CaseOf:
    """One case of the operator."""

    id: str
    hidden: bool
    interpreter: bool
    distribution: str
    sizes: dict[int, int]
    measured: Measured


@dataclass
class Analysis:
    cases: list[CaseOf]  # at least one is public
    float64: bool  # whether Model works in float64
    notes: list[str]


def write_operator(folder: Path, golden: GoldenFile, analysis: Analysis) -> None:
    writer = _Writer(folder.name, golden, analysis)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PROBLEM_FILE).write_text(golden.text, encoding="utf-8")
    interface = json.dumps(writer.interface(), indent=1) + "\n"
    (folder / INTERFACE_FILE).write_text(interface, encoding="utf-8")
    names = list(writer.arguments)
    (folder / "reference.py").write_text(
        REFERENCE.format(
            digest=digest_of(golden.text, interface),
            names=", ".join(names),
            pairs=", ".join(f"{name!r}: {name}" for name in names),
        ),
        encoding="utf-8",
    )
    (folder / "spec.toml").write_text("\n".join(writer.spec()) + "\n", encoding="utf-8")


class _Writer:
    def __init__(self, name: str, golden: GoldenFile, analysis: Analysis) -> None:
        self._name, self._golden, self._analysis = name, golden, analysis
        self._cases = analysis.cases
        first = self._cases[0].measured
        self._first = first
        self._state = _argument_names(list(first.made.state))
        self._written = [self._state[key] for key in first.written]
        given: dict[str, Any] = {}
        text_of(first.made.inputs, "s", given)
        init: dict[str, Any] = {}
        text_of(first.made.init, "i", init)
        # A number of the constructor that is the same in all cases is written in the adapter.
        constants = {
            key: value
            for key, value in init.items()
            if all(_same(case.measured.made.named[key], value) for case in self._cases)
        }
        self._init = text_of(first.made.init, "i", {}, constants)
        self._inputs = text_of(first.made.inputs, "s", {})
        self.arguments: dict[str, list[Any]] = {}  # the values in each case, in call order
        for key in given:
            self.arguments[key] = [case.measured.made.named[key] for case in self._cases]
        for key in init:
            if key not in constants:
                self.arguments[key] = [case.measured.made.named[key] for case in self._cases]
        for key, argument in self._state.items():
            self.arguments[argument] = [case.measured.made.state[key] for case in self._cases]
        for position in range(len(first.draws)):
            self.arguments[f"d{position}"] = [_drawn(case, position) for case in self._cases]
        self._axes: list[dict[str, int]] = [{} for _ in self._cases]
        self._shapes = {
            name: self._shape(name, values)
            for name, values in self.arguments.items()
            if isinstance(values[0], torch.Tensor)
        }
        self._outputs = [
            self._shape(f"y{i}", [case.measured.outputs[i] for case in self._cases])
            for i in range(len(first.outputs))
        ]

    def _shape(self, name: str, values: list[torch.Tensor]) -> list[Any]:
        """Returns the shape for the spec: numbers where all cases agree, and otherwise names of
        axes."""
        shape: list[Any] = []
        for dim, extent in enumerate(values[0].shape):
            if all(value.shape[dim] == extent for value in values):
                shape.append(extent)
                continue
            axis = f"{name}_{dim}"
            for axes, value in zip(self._axes, values, strict=True):
                axes[axis] = value.shape[dim]
            shape.append(axis)
        return shape

    def interface(self) -> dict[str, Any]:
        return {
            "inputs": self._inputs,
            "init": self._init,
            "tensors": {
                name: NAMES[values[0].dtype]
                for name, values in self.arguments.items()
                if name in self._shapes
            },
            "numbers": [name for name in self.arguments if name not in self._shapes],
            "state": self._state,
            "written": self._written,
            "touched": self._first.touched,
            "draws": {case.id: case.measured.draws for case in self._cases},
            # The keys of a JSON object are texts, so the sizes are pairs.
            "sizes": {case.id: list(case.sizes.items()) for case in self._cases},
            "costs": {case.id: self._cost(case) for case in self._cases},
            "float64": self._analysis.float64,
        }

    def _cost(self, case: CaseOf) -> tuple[int, int, int]:
        measured = case.measured
        written = [*measured.outputs, *(measured.made.state[key] for key in measured.written)]
        needed = sum(x.numel() * x.element_size() for x in written)
        moved = needed + int(SURE_SHARE * (measured.bytes - needed))
        return moved, int(SURE_SHARE * measured.flops), measured.bytes - moved

    def adapter(self, entry: str) -> str:
        state = ", ".join(f"{key!r}: {argument}" for key, argument in self._state.items())
        drawn = ", ".join(f"d{i}" for i in range(len(self._first.draws)))
        draws = f", [{drawn}]" if drawn else ""
        return (
            "import torch\n"
            "from harness.entry.class_entry import call_class\n\n\n"
            f"def {entry}({', '.join(self.arguments)}):\n"
            f"    init = {self._init}\n"
            f"    state = {{{state}}}\n"
            f"    return call_class({SUBMISSION}, init, state, {self._inputs}{draws})\n"
        )

    def spec(self) -> Iterator[str]:
        golden = self._golden
        entry = f"call_{self._name}"[:64]
        returned = ["Tensor"] * len(self._outputs)
        result = returned[0] if len(returned) == 1 else f"tuple[{', '.join(returned)}]"
        typed = ", ".join(f"{name}: {self._type(name)}" for name in self.arguments)
        yield f"name = {_toml(self._name)}"
        yield 'split = "standard"'
        yield 'family = "fused"'
        yield 'dialect = "triton"'
        yield f"difficulty = {golden.difficulty}"
        yield f"summary = {_toml(f'KernelBench, {golden.name}')}"
        yield f"description = {_toml(self._description())}"
        yield f"entry = {_toml(entry)}"
        yield f"signature = {_toml(f'{entry}({typed}) -> {result}')}"
        yield "imported = true"
        yield 'baseline = "torch_eager"'
        provenance = golden.provenance
        for key, value in (
            ("benchmark", provenance.benchmark),
            ("benchmark_file", golden.name),
            ("benchmark_file_sha256", hashlib.sha256(golden.text.encode()).hexdigest()),
            ("benchmark_revision", provenance.revision),
            ("benchmark_licence", provenance.licence),
            ("benchmark_tolerance", PROVENANCE_TOLERANCE),
        ):
            if value:
                yield f"{key} = {_toml(value)}"
        yield f"adapter = {_toml(self.adapter(entry))}"
        keys = {argument: key for key, argument in self._state.items()}
        for name, values in self.arguments.items():
            yield f"\n[[arguments]]\nname = {_toml(name)}\ntype = {_toml(self._kind(name))}"
            if name in self._shapes:
                yield f"dtype = {_toml(NAMES[values[0].dtype])}"
                yield f"shape = {json.dumps(self._shapes[name])}"
            yield f'role = "{"inout" if name in self._written else "input"}"'
            yield f"description = {_toml(self._origin(name, keys))}"
        yield from self._output_tables()
        yield from self._case_tables()

    def _output_tables(self) -> Iterator[str]:
        float_error = self._float_error()
        rows = [(f"y{i}", x.dtype, self._outputs[i], "") for i, x in enumerate(self._first.outputs)]
        rows += [
            (f"{name}_after"[:64], self.arguments[name][0].dtype, self._shapes[name], name)
            for name in self._written
        ]
        for name, dtype, shape, source in rows:
            yield f"\n[[outputs]]\nname = {_toml(name)}\ndtype = {_toml(NAMES[dtype])}"
            yield f"shape = {json.dumps(shape)}"
            if dtype.is_floating_point:
                yield f"max_abs_error = {float_error}\nrelative = true"
            else:
                yield "max_abs_error = 0"
            if source:
                yield f"from = {_toml(source)}"

    def _case_tables(self) -> Iterator[str]:
        dtype = self._dtype()
        for case, axes in zip(self._cases, self._axes, strict=True):
            yield f"\n[[cases]]\nid = {_toml(case.id)}"
            yield f'visibility = "{"hidden" if case.hidden else "public"}"'
            yield f"interpreter = {str(case.interpreter).lower()}\ndtype = {_toml(dtype)}"
            listed = ", ".join(f"{axis} = {extent}" for axis, extent in axes.items())
            yield f"axes = {{ {listed} }}" if listed else "axes = {}"
            yield f"distribution = {_toml(case.distribution)}"

    def _dtype(self) -> str:
        tensors = [values[0] for name, values in self.arguments.items() if name in self._shapes]
        floats = [x for x in tensors if x.dtype.is_floating_point]
        return NAMES[(floats or tensors)[0].dtype]

    def _float_error(self) -> float:
        """Returns the tolerance. The errors of several products add up like a random walk."""
        products = self._first.contractions
        if not products:
            return EXACT_ERROR
        return min(MOST_ERROR, PRODUCT_ERROR * math.ceil(math.sqrt(products)))

    def _kind(self, name: str) -> str:
        return "tensor" if name in self._shapes else SCALARS[type(self.arguments[name][0])]

    def _type(self, name: str) -> str:
        return "Tensor" if name in self._shapes else self._kind(name)

    def _origin(self, name: str, keys: dict[str, str]) -> str:
        if name in keys:
            return f"{keys[name]} of Model's state dict, contiguous"
        if name[0] == "d":
            return "what forward draws"
        where = "get_init_inputs" if name[0] == "i" else "get_inputs"
        return f"from {where}"

    def _description(self) -> str:
        written = self._first.written
        changed = (
            f" forward also changes {', '.join(written)}, and so must yours: the judge compares them."
            if written
            else ""
        )
        drawn = (
            " forward draws random tensors with torch.randn or torch.rand; Assay hands out the "
            "tensors d0, d1, ... in their place."
            if self._first.draws
            else ""
        )
        return (
            f"Define `{SUBMISSION}`, a torch.nn.Module that computes what `Model` below computes. It "
            "has the constructor and the forward of Model, and parameters and buffers with the same "
            "names and shapes. Assay makes an object as in get_init_inputs, puts parameters and "
            f"buffers into it, and calls it with inputs as in get_inputs.{changed}{drawn} The hidden "
            "cases draw parameters and inputs from other distributions, negative numbers among them."
            f"\n\nThe benchmark itself accepts {PROVENANCE_TOLERANCE}; the tolerances below decide "
            f"here.\n\n```python\n{self._golden.text.strip()}\n```"
        )


def _argument_names(keys: list[str]) -> dict[str, str]:
    """Returns for the name of each parameter and buffer the name of its argument."""
    made: dict[str, str] = {}
    for key in keys:
        name = "p_" + re.sub(r"[^a-z0-9_]", "_", key.lower())
        name = name[: NAME_CHARS - 8] if len(name) > NAME_CHARS - 8 else name
        made[key] = name if name not in made.values() else f"{name}_{len(made)}"
    return made


def _drawn(case: CaseOf, position: int) -> torch.Tensor:
    _, shape, dtype = case.measured.draws[position]
    return torch.empty(shape, dtype=getattr(torch, dtype), device="meta")


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and (a == b or a != a)


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
