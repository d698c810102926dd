"""What follows from memory that nobody wrote is open; what differs from run to run by itself is
not."""

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


def test_unwritten_elements_and_what_is_made_of_them_are_open() -> None:
    def code() -> torch.Tensor:
        y = torch.empty(3, 4)
        y[:, :2] = torch.arange(6.0).reshape(3, 2)
        return y.cumsum(1)[:2].flatten()

    (mask,) = open_elements(amid(code), [0.01])
    assert mask.tolist() == [False, False, True, True] * 2


def test_what_hides_from_one_of_the_contents_shows_in_another() -> None:
    for code in (
        lambda: torch.fmax(torch.empty(2), torch.ones(2)),  # NaN loses
        lambda: torch.empty(2).nan_to_num(0.0) * 0.01,
        lambda: torch.empty(2, dtype=torch.int64),
        lambda: torch.empty(2, dtype=torch.bool),
    ):
        assert bool(open_elements(amid(code), [0.01])[0].all())


def test_a_small_difference_opens_what_is_else_the_same() -> None:
    assert bool(open_elements(amid(lambda: torch.empty(2).nan_to_num(0.0) * 1e-6), [0.01])[0].all())


def test_rounding_that_differs_by_itself_opens_nothing() -> None:
    """As the order of atomic additions does: some elements differ even with the same contents,
    others only with others."""
    noise = iter(torch.rand(8, 100) * 1e-4)

    def code() -> torch.Tensor:
        y = torch.ones(100) + next(noise) * (torch.arange(100) > 0)
        return torch.cat([y, torch.empty(3)])

    (mask,) = open_elements(amid(code), [0.01])
    assert mask.tolist() == [False] * 100 + [True] * 3


def test_a_race_is_not_let_off() -> None:
    winner = iter(range(8))
    (mask,) = open_elements(amid(lambda: torch.full((5,), float(next(winner)))), [0.01])
    assert not mask.any()


def test_an_output_whose_form_depends_on_them_is_compared_as_it_is() -> None:
    def code() -> torch.Tensor:
        return torch.ones(int(torch.empty(1, dtype=torch.int64)[0]) + 1)

    assert open_elements(amid(code), [0.01])[0].tolist() == [False]
