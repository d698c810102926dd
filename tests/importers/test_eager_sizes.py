"""Tests how the importer of TritonBench-T finds other sizes for the tensors of a call."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "importers/common"))
sys.path.insert(0, str(ROOT / "importers/tritonbench"))

from eager_form import CaseShape  # noqa: E402
from eager_sizes import Sizes, largest, with_scale  # noqa: E402


def product(shape: CaseShape) -> bool:
    """Accepts the sizes of a product of matrices."""
    a, b = shape.extents["a"], shape.extents["b"]
    return a[1] == b[0]


def test_extents_that_must_be_equal_change_together_and_others_alone() -> None:
    sizes = Sizes(CaseShape({"a": (2, 2), "b": (2, 2)}, {}), product)
    grown = sizes.grown(1 << 12)
    assert grown is not None and product(grown)
    assert 1 << 10 <= grown.elements() <= 1 << 12
    other = sizes.grown(1 << 10, odd=True)
    assert other is not None and product(other)
    assert all(extent % 2 for extents in other.extents.values() for extent in extents)


def test_a_number_that_names_an_extent_changes_with_it() -> None:
    def normalised(shape: CaseShape) -> bool:
        return shape.extents["x"][1] == shape.numbers["size"]

    grown = Sizes(CaseShape({"x": (2, 6)}, {"size": 6}), normalised).grown(1 << 10)
    assert grown is not None and normalised(grown) and grown.numbers["size"] > 6


def test_only_multiples_are_used_where_others_are_refused() -> None:
    def grouped(shape: CaseShape) -> bool:
        return shape.extents["x"][0] % 4 == 0

    grown = Sizes(CaseShape({"x": (4, 3)}, {}), grouped).grown(1 << 10, odd=True)
    assert grown is not None and grouped(grown) and grown.extents["x"][1] % 2


def test_nothing_grows_if_the_function_accepts_one_size() -> None:
    sizes = Sizes(CaseShape({"x": (4,)}, {}), lambda shape: shape.extents["x"] == (4,))
    assert sizes.grown(1 << 10) is None


def test_the_sizes_of_a_kernel_stay() -> None:
    shape = CaseShape({"x": (1, 2, 8, 8), "weight": (5, 2, 3, 3)}, {})

    def convolution(other: CaseShape) -> bool:
        return other.extents["x"][1] == other.extents["weight"][1]

    grown = Sizes(shape, convolution).grown(1 << 12)
    assert grown is not None and grown.extents["weight"][2:] == (3, 3)


def test_scales_of_normal_values() -> None:
    kinds = {"x": {"kind": "normal", "scale": 2.0}, "i": {"kind": "integers", "low": 0, "high": 3}}
    assert with_scale(kinds, 0.25) == {**kinds, "x": {"kind": "normal", "scale": 0.5}}
    shapes = [CaseShape({"x": (2, 3)}, {}), CaseShape({"x": (7,)}, {})]
    assert largest(shapes) is shapes[1]
