"""Adds hidden cases of other shapes to imported operators, where the golden code allows it.

    found = other_outputs(folders, {"softmax": ["call_0"]}, file)  # in a process of its own
    found = confirmed(folders, file, reverse=False)  # golden_interpreter.py, twice
    record_operators(folders, target, cache, other_shapes=True)  # tritonbench_operator.py
    keep(folder, found["softmax"])  # removes the others

The inputs are those of a call of the test part, cut to smaller sizes (harness/imported/
cut_arguments.py). The golden code is the only reference, so a cut is accepted only with evidence
that the code computes all of the smaller result: in Triton's interpreter it accesses only memory of
its arguments, no output depends on uninitialised memory or on memory beyond a tensor, and as a
submission it passes with its programs in order and in reverse order. It also compiles for the
target. For example, a kernel that reads full blocks without a mask reads beyond the last row, and
fails.

Sizes that are no multiples of the old ones are tried before halves, and all extents together
before single ones. If no call runs in the interpreter in its own size, because it takes too long
for example, much smaller sizes are tried.

A function that draws tensors itself gets no such case, because the drawn tensors are arguments of
the shapes that the test has. An extent keeps its size if a float argument may be computed from it,
or if integer tensors together may say how it is divided. For example, starts and lengths of
sequences must fit to each other."""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from golden_interpreter import (  # noqa: E402
    CASE_CPU_S,
    Found,
    TooSlow,
    WorkClock,
    is_inexact,
    judged_case,
)
from golden_operator import OTHER_SUFFIX, SAME_SHAPES  # noqa: E402
from harness.imported.cut_arguments import (  # noqa: E402
    cut,
    distribution_of,
    lowered_to,
    may_hold_positions,
    number_of,
)
from harness.operator import Operator  # noqa: E402

SMALLEST_CUT = 4  # smaller extents keep their size
MOST_TRIES = 8  # of one operator
MOST_ELEMENTS = 1 << 26  # of the tensors of a call, which are made before they are cut
FAR_EXTENTS = (128, 16)  # the extents from these sizes on are cut to much smaller ones
FAR_PARTS = (16, 4)  # to these parts of their size
FAR_CPU_S = 5.0  # of processor time, for the search of such sizes for one operator
CLOSE = 1e-6  # relative; a float this close to a function of an extent may be computed from it
OTHER_SHAPES = "Hidden cases have the shapes of the public ones and other values, and some have smaller shapes."
Sizes = dict[int, int]


def other_outputs(folders: list[Path], calls: Found, file: Path) -> Found:
    """Adds at most one case to each operator. Computes its inputs and expected outputs, and keeps
    them in `file`. `calls` are the public cases that run in the interpreter."""
    kept: dict[str, dict[str, Any]] = {}
    clock = WorkClock()
    for folder in folders:
        names = calls.get(folder.name, [])
        if not is_inexact(folder) and clock.start(CASE_CPU_S if names else FAR_CPU_S):
            try:
                found = _add_case(folder, names)
                if found is not None:
                    kept[folder.name] = found
            except (Exception, TooSlow):
                keep(folder, [])
            finally:
                clock.stop()
    torch.save(kept, file)
    return {name: list(cases) for name, cases in kept.items()}


def _add_case(folder: Path, names: list[str]) -> dict[str, Any] | None:
    operator = Operator.load(folder)
    if operator.module._GOLDEN.draws:
        return None  # what the code draws would have other shapes, too
    wires = [wire for wire in operator.spec["cases"] if wire["visibility"] == "public"]
    wires = [wire for wire in wires if wire["id"] in names] or wires
    public = min(wires, key=lambda one: _elements(operator, one))
    if _elements(operator, public) > MOST_ELEMENTS:
        return None
    arguments = operator.inputs(operator.case(public, "cpu"), 1)
    text = (folder / "spec.toml").read_text(encoding="utf-8")
    tries = _near(arguments) if names else _far(arguments)
    for sizes in itertools.islice(tries, MOST_TRIES):
        try:
            smaller = dict(zip(arguments, cut(list(arguments.values()), sizes), strict=True))
            returned = operator.module._GOLDEN.extents(smaller, "cpu")
            wire = _wire(public, sizes, {**_extents(smaller), **returned})
            _write(folder, text.replace(SAME_SHAPES, OTHER_SHAPES), wire)
            made = judged_case(Operator.load(folder), wire)
        except Exception:
            continue  # the golden code does not accept these sizes, for whatever reason
        if not any(bool(mask.any()) for one in made for mask in one["open"] or []):
            return {wire["id"]: made}
    (folder / "spec.toml").write_text(text, encoding="utf-8")
    return None


def keep(folder: Path, cases: list[str]) -> None:
    """Removes the cases of other shapes that are not in `cases`."""
    path = folder / "spec.toml"
    text = path.read_text(encoding="utf-8")
    for block in re.findall(rf'\n\[\[cases\]\]\nid = "\w+{OTHER_SUFFIX}"\n(?:.+\n)*', text):
        if re.findall(r'id = "(\w+)"', block)[0] not in cases:
            text = text.replace(block, "")
    if f'{OTHER_SUFFIX}"\n' not in text:
        text = text.replace(OTHER_SHAPES, SAME_SHAPES)
    path.write_text(text, encoding="utf-8")


def _near(arguments: dict[str, Any]) -> Iterator[Sizes]:
    """Yields sizes near the old ones, in the order in which they are tried."""
    extents = _extents_of(arguments, SMALLEST_CUT)
    for smaller in (_uneven, lambda n: n // 2):
        together = _allowed(arguments, {extent: smaller(extent) for extent in extents})
        if together:
            yield together
        if len(together) > 1:
            yield from ({old: new} for old, new in together.items())


def _far(arguments: dict[str, Any]) -> Iterator[Sizes]:
    """Yields much smaller sizes, in the order in which they are tried."""
    for least in FAR_EXTENTS:
        extents = _extents_of(arguments, least)
        for part in FAR_PARTS:
            sizes = {extent: max(extent // part, SMALLEST_CUT) for extent in extents}
            for one in ({old: _uneven(new) for old, new in sizes.items()}, sizes):
                together = _allowed(arguments, one)
                if together:
                    yield together


def _uneven(extent: int) -> int:
    """Returns a smaller size that does not divide the extent."""
    return extent - extent // 8 - 1


def _extents_of(arguments: dict[str, Any], least: int) -> list[int]:
    return sorted({extent for x in _tensors(arguments) for extent in x.shape if extent >= least})


def _tensors(arguments: dict[str, Any]) -> list[torch.Tensor]:
    return [value for value in arguments.values() if isinstance(value, torch.Tensor)]


def _allowed(arguments: dict[str, Any], sizes: Sizes) -> Sizes:
    """Returns the sizes without those that have no clear meaning for the arguments."""
    floats = [value for value in arguments.values() if type(value) is float]
    integers = [x for x in _tensors(arguments) if may_hold_positions(x)]
    return {
        old: new
        for old, new in sizes.items()
        if not any(_may_be_of(old, value) for value in floats) and not _divided(old, new, integers)
    }


def _divided(old: int, new: int, integers: list[torch.Tensor]) -> bool:
    """Returns True if the integers may say how an extent is divided, so that they may reach beyond
    its new size: lengths whose sum it is, or starts and lengths in two tensors."""
    if any(int(x.sum()) == old for x in integers):
        return True
    highest = [int(x.max()) for x in integers]
    reached = [lowered_to(one, old, new) for one in highest if 1 < one <= old]
    return len(reached) > 1 and sum(reached) > new


def _may_be_of(extent: int, value: float) -> bool:
    functions = (extent, extent**0.5, 1 / extent, extent**-0.5)
    return any(abs(value - one) <= CLOSE * abs(one) for one in functions)


def _elements(operator: Operator, wire: dict[str, Any]) -> int:
    """Returns the number of elements of all tensors of a case."""
    shapes = [one["shape"] for one in operator.spec["arguments"] if one["type"] == "tensor"]
    return sum(math.prod(wire["axes"][axis] for axis in shape) for shape in shapes)


def _extents(tensors: dict[str, Any]) -> dict[str, int]:
    return {
        f"{name}_{dim}": extent
        for name, x in tensors.items()
        if isinstance(x, torch.Tensor)
        for dim, extent in enumerate(x.shape)
    }


def _wire(public: dict[str, Any], sizes: Sizes, extents: dict[str, int]) -> dict[str, Any]:
    return {
        "id": public["id"] + OTHER_SUFFIX,
        "visibility": "hidden",
        "interpreter": True,
        "dtype": public["dtype"],
        "axes": extents,
        "distribution": distribution_of(number_of(public["distribution"]), sizes),
    }


def _write(folder: Path, text: str, wire: dict[str, Any]) -> None:
    """Writes spec.toml with one more case at its end, where all cases are."""
    axes = ", ".join(f"{axis} = {extent}" for axis, extent in wire["axes"].items())
    case = f'\n[[cases]]\nid = "{wire["id"]}"\nvisibility = "hidden"\ninterpreter = true\n'
    case += f'dtype = "{wire["dtype"]}"\naxes = {{ {axes} }}\n'
    case += f'distribution = "{wire["distribution"]}"\n'
    (folder / "spec.toml").write_text(text + case, encoding="utf-8")
