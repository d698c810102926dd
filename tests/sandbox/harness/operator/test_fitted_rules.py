"""The tolerance of a check: it fits the output's dtype, the output's size and the reference's own
error."""

from __future__ import annotations

import math

import pytest
import torch
from harness.judging.compare import CHUNK, Rule, compare, yardsticks
from harness.judging.fitted_rules import MOST_GROWTH, TOLERANCE, fitted_rules, typical_size


def is_right(expected: torch.Tensor, actual: torch.Tensor, tolerance: float | None = None) -> bool:
    rule = Rule("out", expected.dtype, list(expected.shape), 0.0, 1.0)
    rules = fitted_rules(tolerance, [rule], [expected], None)
    return compare(rules, [expected], [actual], None).ok


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("size", [1e-3, 1.0, 100.0])
def test_an_error_is_relative_to_the_output(dtype: torch.dtype, size: float) -> None:
    expected = (size * torch.linspace(-1, 1, 1001, dtype=torch.float64)).to(dtype)
    expected[500] = 0
    allowed = TOLERANCE[dtype] * typical_size(expected)
    off = torch.zeros(1001, dtype=torch.float64)
    off[500] = 0.9 * allowed
    assert is_right(expected, (expected.double() + off).to(dtype))
    off[500] = 1.2 * allowed
    assert not is_right(expected, (expected.double() + off).to(dtype))


def test_a_large_element_may_be_off_by_its_own_size() -> None:
    expected = torch.ones(1000)
    expected[3] = 1e6
    near = expected.clone()
    near[3] += 5.0
    assert is_right(expected, near)
    near[3] = 1e6 + 50
    assert not is_right(expected, near)


def test_zeros_are_not_right_for_a_small_output() -> None:
    expected = torch.full((100_003,), 1e-5)
    assert not is_right(expected, torch.zeros(100_003))


def test_integers_and_special_values_must_be_equal() -> None:
    assert not is_right(torch.tensor([1, 2]), torch.tensor([1, 3]))
    special = torch.tensor([1.0, math.inf, math.nan])
    assert is_right(special, special.clone())
    assert not is_right(special, torch.tensor([1.0, 1e30, math.nan]))
    assert not is_right(special, torch.tensor([1.0, math.inf, 0.0]))


def test_the_references_own_error_counts_up_to_a_limit() -> None:
    truth = torch.ones(100, dtype=torch.float64)
    rule = Rule("out", torch.float32, [100], 0.0, 1.0)

    def allowed(error: float) -> float:
        expected = (truth + error).float()
        return fitted_rules(None, [rule], [expected], [truth])[0].max_abs_error

    assert allowed(0.0) == TOLERANCE[torch.float32]
    assert allowed(1e-5) == pytest.approx(4e-5, rel=0.05)
    assert allowed(0.1) == MOST_GROWTH * TOLERANCE[torch.float32]


def test_a_given_tolerance_replaces_that_of_the_dtype() -> None:
    expected = torch.ones(10)
    assert is_right(expected, expected * 1.009, 0.01)
    assert not is_right(expected, expected * 1.000001, 0.0)


def test_parts_of_an_output_count_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large output is read in parts, because the whole in float64 needs several times its memory."""
    right = torch.linspace(-3, 5, 1000).reshape(10, 100)
    right[3, 7], right[9, 99] = math.nan, math.inf
    truth = right.double() + 1e-4
    truth[0, 0] += 2.0
    rule = Rule("out", torch.float32, [10, 100], 0.0, 1.0)
    found = []
    for step in (1 << 20, 7):
        monkeypatch.setitem(CHUNK, "cpu", step)
        rules = fitted_rules(None, [rule], [right], [truth])
        limits = yardsticks(rules, [right], [truth])
        found.append((typical_size(right), rules[0].max_abs_error, limits[0].allowed))  # type: ignore[union-attr]
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    finite = right[right.isfinite()].double()
    assert typical_size(right) == pytest.approx(float(finite.square().mean().sqrt()), rel=1e-12)
    assert typical_size(torch.empty(0)) == 1.0
