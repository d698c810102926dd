"""Runs operators that were imported from problem files (problem_source.py). A submission defines a
class `ModelNew` that replaces the file's class `Model`.

    # This code is in a reference.py that an importer wrote.
    problem = Problem(Path(__file__).parent, DIGEST)  # DIGEST is that of problem.py and interface.json
    arguments = problem.inputs(case, rng)
    outputs = problem.reference(arguments)

The judge uses this module. The arguments of the operator are the tensors and numbers in the lists of
get_inputs (`x0`, `s0`, ...) and, where cases differ in them, of get_init_inputs (`i0`, ...), and the
parameters and buffers of Model (`p_...`).

interface.json contains

    inputs, init   the two lists as Python text, with the names of arguments in them
    tensors        maps each tensor argument to its dtype
    numbers        the other arguments
    state          maps the name of each parameter and buffer to its argument
    written        the arguments that forward changes, which are outputs after those it returns
    touched        the arguments that forward overwrites without need
    draws          the tensors that forward draws itself (`d0`, ...), by case: [[function, shape,
                   dtype], ...]
    sizes          maps the id of a case to the sizes that it changes, [[from, to], ...]
    costs          maps the id of a case to its bytes, its operations, and the bytes that are free
    float64        true if the reference works in float64"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from harness.entry.class_entry import call_class, made_module
from harness.imported.problem_draws import Draws, drawn_state, seeded
from harness.imported.problem_source import ProblemSource
from harness.operator import Case, Cost, OperatorError, Rng
from harness.wire.tensors import DTYPES

PROBLEM_FILE, INTERFACE_FILE = "problem.py", "interface.json"
DRAWN = re.compile(r"d[0-9]+")  # the names of tensors that forward draws
Interface = dict[str, Any]


class NotAnArgument(Exception):
    """A value in the lists of a problem file cannot be an argument of an operator."""


def text_of(
    value: Any, prefix: str, names: dict[str, Any], constants: Mapping[str, Any] | None = None
) -> str:
    """Returns the value as Python text, in which its tensors and numbers have names: x0, x1, ...
    for tensors, and `prefix` with a number for numbers. Adds the names to `names`. The names that
    are in `constants` are written as numbers."""
    if isinstance(value, torch.Tensor) or type(value) in (bool, int, float):
        letter = "x" if isinstance(value, torch.Tensor) else prefix
        name = f"{letter}{sum(one.startswith(letter) for one in names)}"
        names[name] = value
        return literal(value) if name in (constants or {}) else name
    if type(value) in (list, tuple, torch.Size):
        items = [text_of(item, prefix, names, constants) for item in value]
        if type(value) is list:
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' * (len(items) == 1)})"
    if type(value) is dict and all(isinstance(key, str) for key in value):
        parts = [f"{k!r}: {text_of(v, prefix, names, constants)}" for k, v in value.items()]
        return f"{{{', '.join(parts)}}}"
    if type(value) in (str, type(None)):
        return repr(value)
    if type(value) is torch.dtype:
        return str(value)
    raise NotAnArgument(f"a {type(value).__name__} cannot be an argument of an operator")


def digest_of(problem: str, interface: str) -> str:
    return hashlib.sha256(json.dumps([problem, interface]).encode()).hexdigest()


def literal(value: float) -> str:
    return repr(value) if math.isfinite(value) else f"float({str(value)!r})"


class Problem:
    """The problem file of one imported operator (see the module's docstring)."""

    def __init__(self, folder: Path, digest: str) -> None:
        path = folder / PROBLEM_FILE
        text = path.read_text(encoding="utf-8")
        interface = (folder / INTERFACE_FILE).read_text(encoding="utf-8")
        if digest_of(text, interface) != digest:
            raise OperatorError(
                f"{folder}: {PROBLEM_FILE} and {INTERFACE_FILE} are not those that the import wrote; "
                "import the problem again"
            )
        self._name = folder.name
        self._source = ProblemSource(text, str(path))
        self._interface: Interface = json.loads(interface)
        self._modules: dict[tuple[tuple[int, int], ...], dict[str, Any]] = {}

    def _module(self, sizes: dict[int, int]) -> dict[str, Any]:
        key = tuple(sorted(sizes.items()))
        if key not in self._modules:
            self._modules[key] = self._source.executed(sizes)
        return self._modules[key]

    def inputs(self, case: Case, rng: Rng) -> dict[str, Any]:
        sizes = self._interface["sizes"].get(case.id)
        if sizes is None:
            raise OperatorError(f"{self._name}: case {case.id} was not imported; import it again")
        made = made_inputs(self._module(dict(sizes)), case.distribution, rng)
        named = dict(made.named)
        named |= {argument: made.state[key] for key, argument in self._interface["state"].items()}
        for position, (function, shape, dtype) in enumerate(self._interface["draws"][case.id]):
            draw = rng.normal if function == "randn" else rng.uniform
            named[f"d{position}"] = draw(shape, DTYPES[dtype])
        wanted = {*self._interface["tensors"], *self._interface["numbers"]}
        return {name: value for name, value in named.items() if name in wanted}

    def reference(self, arguments: dict[str, Any]) -> tuple[torch.Tensor, ...]:
        """Returns the outputs of Model for these arguments. If tensors are float64, they are
        narrowed to the dtypes of the operator, unless the reference works in float64."""
        tensors = [value for value in arguments.values() if isinstance(value, torch.Tensor)]
        wide = self._interface["float64"] and any(x.dtype is torch.float64 for x in tensors)
        given = dict(arguments)
        for name, dtype in self._interface["tensors"].items():
            if not wide:
                given[name] = given[name].to(DTYPES[dtype])
            if self._is_changed(name):
                given[name] = given[name].clone()
        names = {**given, "torch": torch}
        state = {key: given[argument] for key, argument in self._interface["state"].items()}
        with torch.device(tensors[0].device):
            returned = call_class(
                self._module({})["Model"],
                eval(self._interface["init"], names),
                state,
                eval(self._interface["inputs"], names),
                [given[name] for name in given if DRAWN.fullmatch(name)],
                torch.float64 if wide else None,
            )
        outputs = returned if isinstance(returned, tuple) else (returned,)
        return (*outputs, *(given[name] for name in self._interface["written"]))

    def _is_changed(self, name: str) -> bool:
        """Returns True if forward writes to this argument, which belongs to the judge."""
        return name in self._interface["written"] or name in self._interface["touched"]

    def timed(self, arguments: dict[str, Any]) -> tuple[Callable[..., Any], list[Any]]:
        """Returns a function that computes the outputs, and its arguments. The function is an
        object of Model, so a time of it does not contain the making of the object."""
        if any(self._interface["draws"].values()):
            return self.reference, [arguments]  # the draws must be handed out in each call
        given = {
            name: value.clone() if self._is_changed(name) else value
            for name, value in arguments.items()
        }
        names = {**given, "torch": torch}
        state = {key: given[argument] for key, argument in self._interface["state"].items()}
        device = next(x.device for x in arguments.values() if isinstance(x, torch.Tensor))
        with torch.device(device):
            init = eval(self._interface["init"], names)
            module = made_module(self._module({})["Model"], init, state)
        return module, list(eval(self._interface["inputs"], names))

    def constructed(self, case: Case, rng: Rng) -> dict[str, torch.Tensor]:
        """Returns the arguments for parameters and buffers with the values of Model's constructor,
        which no case of the operator has."""
        module = self._module(dict(self._interface["sizes"][case.id]))
        with seeded(rng):
            state = drawn_state(module["Model"], module["get_init_inputs"](), rng, vary=False)
        return {argument: state[key] for key, argument in self._interface["state"].items()}

    def cost(self, case: Case) -> Cost:
        moved, flops, untouched = self._interface["costs"][case.id]
        return Cost(bytes=float(moved), flops=float(flops), untouched=float(untouched))


@dataclass
class Made:
    """What a problem file makes for one case."""

    inputs: Any  # the list of get_inputs
    init: Any  # the list of get_init_inputs
    named: dict[str, Any]  # the tensors and numbers of both lists, by name
    state: dict[str, torch.Tensor]
    changed: int  # how many draws the distribution replaced


def made_inputs(module: dict[str, Any], distribution: str, rng: Rng) -> Made:
    with seeded(rng), torch.no_grad():
        draws = Draws(distribution, rng)
        with torch.device(rng.device), draws:
            given, init = module["get_inputs"](), module["get_init_inputs"]()
        named: dict[str, Any] = {}
        text_of(given, "s", named)
        if distribution == "signed":
            named = {name: _varied(value) for name, value in named.items()}
        numbers: dict[str, Any] = {}
        text_of(init, "i", numbers)
        if any(isinstance(value, torch.Tensor) for value in numbers.values()):
            raise NotAnArgument("get_init_inputs returns a tensor")
        state = drawn_state(module["Model"], init, rng)
    tensors = {
        name: value.detach().to(rng.device) if isinstance(value, torch.Tensor) else value
        for name, value in named.items()
    }
    return Made(given, init, {**tensors, **numbers}, state, draws.changed)


def _varied(value: Any) -> Any:
    """Returns another number in place of a float that the benchmark fixes, so that a submission
    cannot ignore it."""
    return -0.75 * value if type(value) is float else value
