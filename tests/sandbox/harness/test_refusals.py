"""Tests that the first refusal of a call is the result of the call, even if the submission's code
catches the exception."""

from __future__ import annotations

import pytest
from harness.entry.refusals import Refusals


def test_a_swallowed_refusal_is_raised_at_the_end() -> None:
    refusals = Refusals()
    with pytest.raises(KeyError, match="first"), refusals.deciding():
        for name in ("first", "second"):
            try:
                raise refusals.refuse(KeyError(name))
            except KeyError:
                pass
    with pytest.raises(KeyError, match="first"):
        refusals.check()


@pytest.mark.parametrize("later", [ValueError("mine"), SystemExit(0), KeyboardInterrupt()])
def test_no_later_error_takes_its_place(later: BaseException) -> None:
    refusals = Refusals()
    with pytest.raises(KeyError) as raised, refusals.deciding():
        refusals.refuse(KeyError("first"))
        raise later
    assert raised.value.__suppress_context__


def test_other_errors_pass() -> None:
    refusals = Refusals()
    with pytest.raises(ValueError, match="mine"), refusals.deciding():
        raise ValueError("mine")
    with refusals.deciding():
        pass
    refusals.check()
