"""Finds other sizes for the tensors of a call: the published calls are tiny, and not worth timing.

    sizes = Sizes(shape, accepts)
    sizes.grown(1 << 16)  # a shape with about 2^16 elements, or None if the reference accepts none

Places whose extents are equal in the published call may belong together, as those of two operands of
an addition. The reference decides which of them can change alone, in pairs or only together. A number
that equals an extent, such as the size of a normalised shape, changes with the extent if it must."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from eager_form import CaseShape

Place = tuple[str, int]  # the name of a tensor, and a dimension
MOST_EXTENT = 1 << 22
MOST_STEPS = 48  # of growth
MOST_TOGETHER = 3  # places that are tried together, before all of an extent are


@dataclass(frozen=True)
class Unit:
    """Places whose extents change together, and the numbers that change with them."""

    places: tuple[Place, ...]
    numbers: tuple[str, ...]
    odd: bool  # the reference accepts extents that are no multiple of the published one


class Sizes:
    def __init__(self, shape: CaseShape, accepts: Callable[[CaseShape], bool]) -> None:
        self._shape = shape
        self._accepts = accepts
        self._units = self._changeable()

    def grown(self, elements: int, odd: bool = False) -> CaseShape | None:
        """Returns the largest accepted shape with at most `elements` elements, or None if no extent
        can change. With `odd`, extents are no multiples of the published ones where possible."""
        factors = dict.fromkeys(self._units, 1)
        best = None
        for step in range(MOST_STEPS):
            # All units grow in turn, the smallest extent first, so that no extent stays tiny.
            ordered = sorted(factors, key=lambda unit: self._extent(unit) * factors[unit])
            for unit in ordered:
                larger = factors | {unit: factors[unit] * 2}
                shape = self._with(larger, odd)
                if self._extent(unit) * larger[unit] > MOST_EXTENT or shape.elements() > elements:
                    continue
                factors = larger
                best = shape
                break
            else:
                break
            del step
        return best

    def _extent(self, unit: Unit) -> int:
        name, dim = unit.places[0]
        return self._shape.extents[name][dim]

    def _with(self, factors: dict[Unit, int], odd: bool) -> CaseShape:
        extents = {name: list(of) for name, of in self._shape.extents.items()}
        numbers = dict(self._shape.numbers)
        for unit, factor in factors.items():
            if factor == 1:
                continue
            extent = self._extent(unit) * factor + (1 if odd and unit.odd else 0)
            for name, dim in unit.places:
                extents[name][dim] = extent
            for name in unit.numbers:
                numbers[name] = extent
        return CaseShape({name: tuple(of) for name, of in extents.items()}, numbers)

    def _changeable(self) -> list[Unit]:
        """Returns the units that can grow. Places that can change alone are units of their own, then
        pairs and so on, so that a product of square matrices is also tried with other matrices."""
        together: dict[int, list[Place]] = {}
        for name, extents in self._shape.extents.items():
            for dim, extent in enumerate(extents):
                together.setdefault(extent, []).append((name, dim))
        units: list[Unit] = []
        for extent, places in together.items():
            left = list(places)
            for size in range(1, MOST_TOGETHER + 1):
                for chosen in combinations(tuple(left), size) if size < len(left) else ():
                    if not set(chosen) <= set(left):
                        continue
                    unit = self._unit(chosen, extent)
                    if unit is not None:
                        units.append(unit)
                        left = [place for place in left if place not in chosen]
            rest = self._unit(tuple(left), extent) if left else None
            units += [rest] if rest is not None else []
        units = [unit for unit in units if self._may_grow(unit)]
        while units and not self._accepts(self._with(dict.fromkeys(units, 2), False)):
            units.pop()  # units that are accepted one by one may contradict each other
        return units

    def _may_grow(self, unit: Unit) -> bool:
        """Returns False for the sizes of a convolution's kernel, which should stay small."""
        first = next(iter(self._shape.extents))
        return any(name == first or len(self._shape.extents[name]) <= 2 for name, _ in unit.places)

    def _unit(self, places: tuple[Place, ...], extent: int) -> Unit | None:
        tied = tuple(
            name
            for name, value in self._shape.numbers.items()
            if type(value) is int and value == extent
        )
        for numbers in ((), tied) if tied else ((),):
            unit = Unit(places, numbers, False)
            if all(self._accepts(self._with({unit: factor}, False)) for factor in (2, 3)):
                odd = Unit(places, numbers, True)
                return odd if self._accepts(self._with({odd: 2}, True)) else unit
        return None


def largest(shapes: list[CaseShape]) -> CaseShape:
    return max(shapes, key=CaseShape.elements)


def with_scale(kinds: dict[str, Any], factor: float) -> dict[str, Any]:
    """Returns the kinds with normally distributed values that are smaller by the factor."""
    return {
        name: {**kind, "scale": kind["scale"] * factor} if kind["kind"] == "normal" else kind
        for name, kind in kinds.items()
    }
