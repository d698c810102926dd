"""Tests that elements which no kernel stored are wrong, also where the poison looks right."""

from __future__ import annotations

import pytest
import torch
from harness.judging.compare import Result, Rule, compare
from harness.judging.unstored import with_unstored_wrong
from harness.judging.wrong import Before
from harness.wire.poison import fill_poison

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def unstored(dtype: torch.dtype, count: int = 8) -> torch.Tensor:
    memory = torch.empty(count * dtype.itemsize, dtype=torch.uint8)
    fill_poison(memory)
    return memory.view(dtype)


def judged(right: torch.Tensor, got: torch.Tensor, before: Before) -> Result:
    rule = Rule("y", right.dtype, list(right.shape), 0.01, 1.0)
    return compare([rule], [right], [got], None, before=before)


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_that_nothing_stored_is_wrong(dtype: torch.dtype) -> None:
    right = torch.full((8,), torch.nan, dtype=dtype)
    result = judged(right, unstored(dtype), Before(poisoned=True))
    assert not result.ok and result.mismatches == 8
    assert result.wrong[0]["unstored"]
    assert judged(right, right.clone(), Before(poisoned=True)).ok
    assert judged(right, -right, Before(poisoned=True)).ok  # a NaN with the sign set


@pytest.mark.parametrize(
    ("right", "dtype", "values"),
    [
        (torch.nan, torch.float32, "expected nan, but nothing was stored"),
        (True, torch.bool, "expected 1.0, but nothing was stored"),
        (1.0, torch.float32, "expected 1.0, but nothing was stored"),
        (3, torch.int32, "expected 3.0, but nothing was stored"),
    ],
)
def test_a_message_says_that_nothing_was_stored(
    right: float | bool, dtype: torch.dtype, values: str
) -> None:
    """The message "expected nan, got nan" would tell no error."""
    expected = torch.full((4,), right, dtype=dtype)
    found = judged(expected, unstored(dtype, 4), Before(poisoned=True))
    assert found.text() == f"output y: 4 of 4 elements are wrong; first at [0]: {values}"
    assert found.first_mismatch is not None and found.first_mismatch["unstored"] is True


def test_a_message_has_the_first_value_although_nothing_was_stored_later() -> None:
    expected = torch.tensor([torch.nan, torch.nan])
    got = unstored(torch.float32, 2)
    got[0] = 3.0
    found = judged(expected, got, Before(poisoned=True))
    assert found.text().endswith("first at [0]: expected nan, got 3.0")
    assert found.first_mismatch is not None and found.first_mismatch["unstored"] is False


def test_an_input_that_nothing_was_stored_to_is_known_by_its_values() -> None:
    """An output that is also an input has the input's values before."""
    kept, right = torch.tensor([5.0, 6.0, 7.0]), torch.tensor([5.0, 8.0, 9.0])
    before = Before(poisoned=True, kept=[kept])
    for got, stored in ((kept, False), (torch.tensor([5.0, 1.0, 7.0]), True)):
        found = judged(right, got.clone(), before)
        assert found.first_mismatch is not None and found.first_mismatch["index"] == [1]
        assert found.first_mismatch["unstored"] is not stored


@pytest.mark.parametrize("dtype", FLOATS)
def test_memory_without_poison_or_with_an_argument_is_only_compared(dtype: torch.dtype) -> None:
    right = torch.full((8,), torch.nan, dtype=dtype)
    assert judged(right, unstored(dtype), Before(poisoned=False)).ok
    assert judged(right, unstored(dtype), Before(poisoned=True, kept=[right])).ok


def test_true_that_nothing_stored_is_wrong() -> None:
    right = torch.tensor([True] * 6 + [False] * 2)
    got = unstored(torch.bool)
    result = judged(right, got, Before(poisoned=True))
    assert not result.ok and result.mismatches == 8
    assert judged(right, right.clone(), Before(poisoned=True)).ok


def test_a_kernel_may_store_all_bits_for_true() -> None:
    right = torch.tensor([True, False] * 4)
    ones = torch.where(right, 255, 0).to(torch.uint8).view(torch.bool)
    assert judged(right, ones, Before(poisoned=True)).ok
    odd = torch.tensor([False, True] * 4)
    ones = torch.where(odd, 255, 0).to(torch.uint8)
    ones[0] = 255  # also at an even index
    assert judged(
        torch.tensor([True, True] + [False, True] * 3), ones.view(torch.bool), Before(True)
    ).ok


@pytest.mark.parametrize("at", [0, 4])
def test_one_true_with_all_bits_does_not_hide_those_that_nothing_stored(at: int) -> None:
    right = torch.tensor([True, True, False, True, True, True, False, True])
    stored = torch.where(torch.arange(8) % 2 == 0, right.to(torch.uint8), 255).to(torch.uint8)
    stored[at] = 255
    result = judged(right, stored.view(torch.bool), Before(poisoned=True))
    assert not result.ok and result.mismatches == 4


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64])
def test_an_integer_that_is_the_poison_may_be_stored(dtype: torch.dtype) -> None:
    right = unstored(dtype)
    assert with_unstored_wrong(right, right) is right


def test_outputs_in_any_layout_are_looked_at() -> None:
    right = torch.full((4, 2), torch.nan)
    got = unstored(torch.float32).reshape(2, 4).t()
    assert judged(right, got, Before(poisoned=True)).mismatches == 8
