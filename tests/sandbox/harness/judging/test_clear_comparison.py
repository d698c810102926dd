"""Tests that the cheap computation of a comparison says the same as the exact one
(sandbox/harness/judging/compare.py)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from harness.judging import compare
from harness.judging.compare import CHUNK, Result, Rule
from harness.judging.wrong import Before
from harness.wire.poison import fill_poison

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn]
INTEGERS = [torch.uint8, torch.int32, torch.int64, torch.uint32, torch.bool]
LIMIT = 0.01
ELEMENTS = 1000


def compared(rule: Rule, right: torch.Tensor, got: torch.Tensor) -> Result:
    before = Before(poisoned=True, kept=[None])
    return compare.compare([rule], [right], [got], None, before=before)


def both(
    rule: Rule, right: torch.Tensor, got: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> tuple[Result, Result]:
    """Returns the result, and that of the exact computation alone."""
    found = compared(rule, right, got)
    with monkeypatch.context() as exact:
        exact.setattr(compare, "_error_if_right", lambda *_: None)
        return found, compared(rule, right, got)


def agree(found: Result, exact: Result) -> None:
    assert found.max_abs_error == pytest.approx(exact.max_abs_error, rel=compare.ROUNDING)
    assert replace(found, max_abs_error=None) == replace(exact, max_abs_error=None)


def rule_for(dtype: torch.dtype, limit: float = LIMIT, scale: float = 1.0) -> Rule:
    return Rule("y", dtype, [ELEMENTS], limit, scale)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("scale", [1.0, 0.3, 1e-3, 100.0, 10_000.0])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.999_999_9, 1.0, 1.000_000_1, 2.0])
def test_errors_around_the_limit(
    dtype: torch.dtype, scale: float, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = torch.Generator().manual_seed(1)
    right = torch.randn(ELEMENTS, generator=generator, dtype=torch.float64).to(dtype)
    got = right.clone()
    got[7] = (right[7].double() + share * LIMIT / scale).to(dtype)
    agree(*both(rule_for(dtype, LIMIT, scale), right, got, monkeypatch))
    agree(*both(rule_for(dtype, 0.0, scale), right, got, monkeypatch))


@pytest.mark.parametrize("dtype", FLOATS[:4])
@pytest.mark.parametrize("special", [float("nan"), float("inf"), -float("inf"), 0.0, -0.0])
@pytest.mark.parametrize("other", [float("nan"), float("inf"), -float("inf"), 0.0, -0.0])
def test_values_that_are_not_finite(
    dtype: torch.dtype, special: float, other: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = torch.zeros(ELEMENTS, dtype=dtype)
    got = right.clone()
    right[3], got[3] = special, other
    agree(*both(rule_for(dtype), right, got, monkeypatch))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_smallest_difference_is_wrong_where_nothing_may_differ(dtype: torch.dtype) -> None:
    right = torch.zeros(ELEMENTS, dtype=dtype)
    got = right.clone()
    got[5] = torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
    assert compared(rule_for(dtype, 0.0), right, got).mismatches == 1


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    right = (torch.arange(ELEMENTS) % 2).to(dtype)
    got = right.clone()
    agree(*both(rule_for(dtype, 0.0), right, got, monkeypatch))
    got[4] = 1
    agree(*both(rule_for(dtype, 0.0), right, got, monkeypatch))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.bool])
def test_what_no_kernel_stored_is_wrong(dtype: torch.dtype) -> None:
    right = torch.ones(ELEMENTS, dtype=dtype) if dtype is torch.bool else torch.zeros(ELEMENTS)
    right = right.to(dtype)
    if dtype is not torch.bool:
        right[9] = float("nan")
    got = right.clone()
    fill_poison(got.view(torch.uint8))
    result = compared(rule_for(dtype), right, got)
    assert result.kind == "wrong_result" and result.mismatches == ELEMENTS


def test_an_error_in_the_second_chunk_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CHUNK, "cpu", 300)
    right = torch.zeros(ELEMENTS)
    got = right.clone()
    got[301] = LIMIT / 2
    found, exact = both(rule_for(torch.float32), right, got, monkeypatch)
    agree(found, exact)
    assert found.ok and found.max_abs_error == pytest.approx(LIMIT / 2)
    got[999] = 2 * LIMIT
    agree(*both(rule_for(torch.float32), right, got, monkeypatch))


def test_outputs_with_any_strides_and_no_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    right = torch.zeros(20, 50)
    rule = Rule("y", torch.float32, [20, 50], LIMIT, 1.0)
    agree(*both(rule, right, torch.zeros(1).expand(20, 50), monkeypatch))
    agree(*both(rule, right, torch.ones(50, 20).T, monkeypatch))
    empty = torch.zeros(0)
    agree(*both(Rule("y", torch.float32, [0], 0.0, 1.0), empty, empty.clone(), monkeypatch))


@pytest.mark.parametrize("special", [0.0, 3e300, float("nan"), float("inf")])
@pytest.mark.parametrize("scale", [1.0, 0.3, 1e-3])
def test_the_largest_error_is_that_of_the_exact_computation(special: float, scale: float) -> None:
    generator = torch.Generator().manual_seed(2)
    truth = torch.randn(ELEMENTS, generator=generator, dtype=torch.float64)
    got = (truth + 1e-3 * torch.randn(ELEMENTS, generator=generator)).to(torch.float16)
    truth[5] = special
    for value in (0.0, special, float("nan"), -float("inf")):
        got[5] = value
        exact = float(compare.errors(truth, got, scale).max())
        assert compare._worst(truth, got, scale) == exact


def random_case(seed: int) -> tuple[Rule, torch.Tensor, torch.Tensor, list[torch.Tensor]]:
    """Returns a rule, right values, outputs whose errors are mostly near the limit, and masks."""
    generator = torch.Generator().manual_seed(seed)

    def one_of(values: list[Any]) -> Any:
        return values[int(torch.randint(len(values), (1,), generator=generator))]

    dtype = one_of(FLOATS)
    limit, scale = one_of([0.0, 1e-3, 0.01, 0.5]), one_of([1e-3, 1.0, 100.0, 10_000.0])
    kind = one_of(["", "relative", "last_place"])
    rule = Rule(
        "y",
        dtype,
        [ELEMENTS],
        limit,
        scale,
        last_place=kind == "last_place",
        relative=kind == "relative",
    )
    right = one_of([1.0, 1e-3, 30.0]) * torch.randn(
        ELEMENTS, generator=generator, dtype=torch.float64
    )
    right = right.to(dtype)
    off = one_of([0.0, 0.5, 1.0, 1.5]) * limit / scale
    got = (right.double() + off * (torch.rand(ELEMENTS, generator=generator) * 2 - 1)).to(dtype)
    for value in one_of([[], [float("nan")], [float("inf"), -float("inf")]]):
        if dtype is not torch.float8_e4m3fn:
            right[one_of([1, 2])] = value
            got[one_of([1, 2])] = value
    mask = torch.rand(ELEMENTS, generator=generator) < one_of([0.0, 0.1])
    return rule, right, got, one_of([[], [mask]])


@pytest.mark.parametrize("seed", range(400))
def test_both_computations_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rule, right, got, masks = random_case(seed)
    kept = torch.zeros(ELEMENTS, dtype=rule.dtype) if seed % 3 == 0 else None

    def judged() -> Result:
        before = Before(poisoned=True, kept=[kept])
        return compare.compare([rule], [right], [got], None, masks=masks, before=before)

    found = judged()
    with monkeypatch.context() as exact:
        exact.setattr(compare, "_error_if_right", lambda *_: None)
        agree(found, judged())


def test_the_random_cases_are_right_and_wrong() -> None:
    """Otherwise the test before would show little."""
    results = []
    for seed in range(400):
        rule, right, got, masks = random_case(seed)
        results.append(compare.compare([rule], [right], [got], None, masks=masks).ok)
    assert results.count(True) > 100 and results.count(False) > 50


def test_a_difference_that_overflows(monkeypatch: pytest.MonkeyPatch) -> None:
    right = torch.full([ELEMENTS], 3e38)
    agree(*both(rule_for(torch.float32, 1e300), right, -right, monkeypatch))
