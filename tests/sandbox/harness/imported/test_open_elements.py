"""Tests that elements that depend on uninitialised memory are open (exempt from checking). Elements
that differ between runs for another reason are not open."""

from __future__ import annotations

from collections.abc import Callable

import torch
from harness.imported.open_elements import open_elements
from harness.imported.surroundings import Contents, Surroundings


def amid(code: Callable[[], torch.Tensor]) -> Callable[[Contents], list[torch.Tensor]]:
    def run(contents: Contents) -> list[torch.Tensor]:
        with Surroundings(contents, "cpu"):
            return [code()]

    return run


def test_unwritten_elements_and_results_computed_from_them_are_open() -> None:
    def code() -> torch.Tensor:
        y = torch.empty(3, 4)
        y[:, :2] = torch.arange(6.0).reshape(3, 2)
        return y.cumsum(1)[:2].flatten()

    (mask,) = open_elements(amid(code), [0.01])
    assert mask.tolist() == [False, False, True, True] * 2


def test_an_effect_that_one_content_hides_shows_with_another() -> None:
    for code in (
        lambda: torch.fmax(torch.empty(2), torch.ones(2)),  # fmax of NaN and a number is the number
        lambda: torch.empty(2).nan_to_num(0.0) * 0.01,
        lambda: torch.empty(2, dtype=torch.int64),
        lambda: torch.empty(2, dtype=torch.bool),
    ):
        assert bool(open_elements(amid(code), [0.01])[0].all())


def test_a_small_difference_opens_an_element_of_deterministic_code() -> None:
    assert bool(open_elements(amid(lambda: torch.empty(2).nan_to_num(0.0) * 1e-6), [0.01])[0].all())


def test_nondeterministic_rounding_opens_nothing() -> None:
    """The test imitates a varying order of atomic additions. Some elements differ even with the
    same contents, and other elements differ only with different contents."""
    noise = iter(torch.rand(8, 100) * 1e-4)

    def code() -> torch.Tensor:
        y = torch.ones(100) + next(noise) * (torch.arange(100) > 0)
        return torch.cat([y, torch.empty(3)])

    (mask,) = open_elements(amid(code), [0.01])
    assert mask.tolist() == [False] * 100 + [True] * 3


def test_a_race_does_not_exempt_an_element() -> None:
    winner = iter(range(8))
    (mask,) = open_elements(amid(lambda: torch.full((5,), float(next(winner)))), [0.01])
    assert not mask.any()


def test_an_output_whose_shape_depends_on_the_contents_is_compared_as_it_is() -> None:
    def code() -> torch.Tensor:
        return torch.ones(int(torch.empty(1, dtype=torch.int64)[0]) + 1)

    assert open_elements(amid(code), [0.01])[0].tolist() == [False]


def test_a_nan_that_hides_a_dependence_is_open() -> None:
    """The second element is infinity times what lies in the uninitialised memory. It is NaN with
    zeros (0 * inf), with NaNs, and with large numbers (inf - inf), but it is negative infinity if
    the memory holds a small negative number."""
    inf = float("inf")

    def code() -> torch.Tensor:
        there = torch.empty(1)
        return torch.cat([there + 1, there * inf - inf, torch.ones(1), torch.full((1,), inf)])

    (mask,) = open_elements(amid(code), [0.01])
    assert mask.tolist() == [True, True, False, False]


def test_a_nan_of_a_call_without_open_elements_is_compared() -> None:
    (mask,) = open_elements(amid(lambda: torch.tensor([float("nan"), 1.0])), [0.01])
    assert not mask.any()


def test_a_nan_of_another_output_is_open_too_but_not_one_that_varies() -> None:
    nan = float("nan")
    varies = iter([1.0, nan, nan, nan])

    def run(contents: Contents) -> list[torch.Tensor]:
        with Surroundings(contents, "cpu"):
            return [torch.empty(1), torch.tensor([nan, next(varies), 2.0]), torch.tensor([3])]

    first, second, third = open_elements(run, [0.01, 0.01, 0.0])
    assert first.tolist() == [True]
    assert second.tolist() == [True, False, False]
    assert third.tolist() == [False]
