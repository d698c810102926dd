"""Tests a plan that is being recorded: the places of operations while alternatives are recorded,
and refusals that host code cannot hide."""

from __future__ import annotations

import pytest
from harness.entry.errors import NotRecordable
from harness.recording import plan as plans
from harness.recording.draft import Draft


def fill(count: int) -> plans.Fill:
    return plans.Fill(buffer=0, offset=0, count=count, width=4, pattern=0)


def test_alternatives_hold_their_operations_and_preparations_go_before() -> None:
    draft = Draft("cuda:90")
    with draft.choosing(1, "key") as choosing:
        with choosing.alternative("a"):
            assert draft.in_alternative and draft.is_first_alternative
            draft.append(fill(1))
            draft.prepare(fill(9))
        with choosing.alternative("b"):
            assert not draft.is_first_alternative
            draft.append(fill(2))
    assert not draft.in_alternative
    draft.append(fill(3))
    assert draft.plan.ops == [
        fill(9),
        plans.Choice(0, [plans.Alternative("a", [fill(1)]), plans.Alternative("b", [fill(2)])]),
        fill(3),
    ]


def test_an_alternative_that_raises_is_dropped_and_a_single_one_is_not_a_choice() -> None:
    draft = Draft("cuda:90")
    with draft.choosing(1, "key") as choosing:
        with pytest.raises(ValueError, match="does not compile"), choosing.alternative("a"):
            draft.append(fill(1))
            raise ValueError("does not compile")
        with choosing.alternative("b"):
            draft.append(fill(2))
        assert choosing.count == 1
    assert draft.plan.ops == [fill(2)]


def test_settling_fixes_earlier_and_later_choices_to_the_first_alternative() -> None:
    draft = Draft("cuda:90")
    with draft.choosing(1, "key") as choosing:
        for count in (1, 2):
            with choosing.alternative(str(count)):
                draft.append(fill(count))
    draft.settle(1)
    (choice,) = draft.plan.ops
    assert isinstance(choice, plans.Choice) and [one.label for one in choice.alternatives] == ["1"]
    with draft.choosing(1, "another") as choosing:
        with choosing.alternative("first"):
            draft.append(fill(1))
        assert not choosing.has_room


def test_a_refusal_stays_even_if_host_code_catches_it() -> None:
    draft = Draft("cuda:90")
    draft.check()
    first = draft.refuse("reads values", reads_values=True)
    draft.refuse("something later")
    with pytest.raises(NotRecordable, match="reads values") as caught:
        draft.check()
    assert caught.value is first
    draft.begin()
    draft.check()


def test_operations_are_limited() -> None:
    draft = Draft("cuda:90")
    for _ in range(plans.MAX_OPERATIONS):
        draft.append(fill(1))
    with pytest.raises(NotRecordable, match=str(plans.MAX_OPERATIONS)):
        draft.append(fill(1))
