"""Adds hidden cases of other shapes to imported operators, where the golden code allows it.

    found = other_outputs(folders, {"softmax": ["call_0"]}, file)  # in a process of its own
    found = confirmed(folders, file, reverse=False)  # golden_interpreter.py, twice
    record_operators(folders, target, cache, other_shapes=True)  # tritonbench_operator.py
    keep(folder, found["softmax"])  # removes the others

The inputs are those of a call of the test part, cut to smaller sizes (harness/imported/
cut_arguments.py). The golden code is the only reference, so a cut is accepted only with evidence that
the code computes all of the smaller result: in Triton's interpreter it accesses only memory of its
arguments, no output depends on uninitialised memory or on memory beyond a tensor, and as a
submission it passes with its programs in order and in reverse order. It also compiles for the target.
For example, a kernel that reads full blocks without a mask reads beyond the last row, and fails.

Sizes that are no multiples of the old ones are tried before halves, and all extents together before
single ones. Calls are left out if they have integer tensors, which may be indices, or a float that may
be computed from an extent."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from golden_interpreter import Found, TooSlow, WorkClock, judged_case  # noqa: E402
from golden_operator import OTHER_SUFFIX, SAME_SHAPES  # noqa: E402
from harness.imported.cut_arguments import cut, distribution_of, number_of  # noqa: E402
from harness.operator import Operator  # noqa: E402

SMALLEST_CUT = 4  # smaller extents keep their size
MOST_TRIES = 8  # of one operator
CLOSE = 1e-6  # relative; a float this close to a function of an extent may be computed from it
OTHER_SHAPES = "Hidden cases have the shapes of the public ones and other values, and some have smaller shapes."
Sizes = dict[int, int]


def other_outputs(folders: list[Path], calls: Found, file: Path) -> Found:
    """Adds at most one case to each operator. Computes its inputs and expected outputs, and keeps
    them in `file`. `calls` are the cases that run in the interpreter."""
    kept: dict[str, dict[str, Any]] = {}
    clock = WorkClock()
    for folder in folders:
        names = calls.get(folder.name, [])
        if names and clock.start():
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
    wires = {wire["id"]: wire for wire in operator.spec["cases"] if wire["id"] in names}
    given = {name: operator.inputs(operator.case(wire, "cpu"), 1) for name, wire in wires.items()}
    name = min(names, key=lambda one: _elements(given[one]))
    text = (folder / "spec.toml").read_text(encoding="utf-8")
    arguments = given[name]
    for sizes in list(_candidates(arguments))[:MOST_TRIES]:
        try:
            smaller = dict(zip(arguments, cut(list(arguments.values()), sizes), strict=True))
            returned = operator.module._GOLDEN.extents(smaller, "cpu")
            wire = _wire(wires[name], sizes, {**_extents(smaller), **returned})
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


def _candidates(arguments: dict[str, Any]) -> Iterator[Sizes]:
    """Yields the sizes to try, in order."""
    tensors = [value for value in arguments.values() if isinstance(value, torch.Tensor)]
    if any(not (x.is_floating_point() or x.dtype == torch.bool) for x in tensors):
        return
    floats = [value for value in arguments.values() if type(value) is float]
    extents = sorted({extent for x in tensors for extent in x.shape if extent >= SMALLEST_CUT})
    extents = [extent for extent in extents if not any(_may_be_of(extent, x) for x in floats)]
    for smaller in (lambda n: n - n // 8 - 1, lambda n: n // 2):
        together = {extent: smaller(extent) for extent in extents}
        if together:
            yield together
        if len(together) > 1:
            yield from ({old: new} for old, new in together.items())


def _may_be_of(extent: int, value: float) -> bool:
    functions = (extent, extent**0.5, 1 / extent, extent**-0.5)
    return any(abs(value - one) <= CLOSE * abs(one) for one in functions)


def _elements(arguments: dict[str, Any]) -> int:
    return sum(x.numel() for x in arguments.values() if isinstance(x, torch.Tensor))


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
