"""Tests how a wrong output is described: places, elements that no kernel has stored, relations and
worst elements."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from harness.judging import compare as comparing
from harness.judging.compare import Rule, compare
from harness.judging.wrong import Before
from harness.wire.poison import fill_poison, is_poison, poison_value


def described(
    right: torch.Tensor, got: torch.Tensor, allowed: float = 0.01, **before: Any
) -> dict[str, Any]:
    rule = Rule("y", right.dtype, list(right.shape), allowed, 1.0)
    result = compare([rule], [right], [got], None, before=Before(**before))
    assert result.kind == "wrong_result" and len(result.wrong) == 1
    return result.wrong[0]


def poisoned(dtype: torch.dtype, count: int) -> torch.Tensor:
    memory = torch.empty(count * dtype.itemsize, dtype=torch.uint8)
    fill_poison(memory)
    return memory.view(dtype)


def span(axis: int, first: int, last: int, run: int, period: int = 0) -> dict[str, int]:
    return {"axis": axis, "first": first, "last": last, "run": run, "period": period}


def changed(shape: tuple[int, ...], index: Any) -> dict[str, Any]:
    """Returns the region of the elements at `index`."""
    right = torch.linspace(1, 2, math.prod(shape)).reshape(shape)
    got = right.clone()
    got[index] += torch.linspace(1, 3, got[index].numel()).reshape(got[index].shape)
    region: dict[str, Any] = described(right, got)["all"]
    return region


every = slice(None)


@pytest.mark.parametrize(
    ("shape", "index", "spans"),
    [
        ((4112,), slice(4096, None), [span(0, 4096, 4111, 16)]),
        ((4112,), slice(0, 5), [span(0, 0, 4, 5)]),
        ((7, 333), (every, 332), [span(1, 332, 332, 1)]),
        ((7, 333), (3, every), [span(0, 3, 3, 1)]),
        ((256, 9), (slice(64, 128), every), [span(0, 64, 127, 64)]),
        ((256, 100), (slice(64, 128), slice(10, 20)), [span(0, 64, 127, 64), span(1, 10, 19, 10)]),
        ((40, 100), (every, slice(3, None, 4)), [span(1, 3, 99, 1, 4)]),
        ((2, 3, 40), (every, every, slice(8, 16)), [span(2, 8, 15, 8)]),
        ((1000,), slice(5, None, 7), [span(0, 5, 999, 1, 7)]),
    ],
)
def test_a_simple_place_is_found(
    shape: tuple[int, ...], index: Any, spans: list[dict[str, int]]
) -> None:
    region = changed(shape, index)
    assert region["spans"] == spans and region["share"] == pytest.approx(1)


def test_blocks_repeat_with_a_period() -> None:
    blocks = torch.arange(4112) % 128 >= 64
    assert changed((4112,), blocks)["spans"] == [span(0, 64, 4095, 64, 128)]
    holes = blocks.clone()
    holes[[70, 300]] = False  # these elements are right by chance
    region = changed((4112,), holes)
    assert region["spans"] == [span(0, 64, 4095, 64, 128)] and 0.9 < region["share"] < 1


def test_the_end_of_a_tensor_in_index_order_is_found_across_rows() -> None:
    index = (torch.arange(12 * 10) >= 37).reshape(12, 10)
    assert changed((12, 10), index)["spans"] == [span(-1, 37, 119, 83)]


@pytest.mark.parametrize("seed", range(20))
def test_scattered_elements_have_no_place(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for share in (0.02, 0.3, 0.9):
        index = torch.rand(50, 60, generator=generator) < share
        assert changed((50, 60), index)["spans"] == []


def test_elements_that_were_not_stored_are_not_computed_nans() -> None:
    right = torch.ones(7, 333)
    got = poisoned(torch.float32, 7 * 333).reshape(7, 333)
    got[:, :332] = 1
    got[2, 5] = float("nan")  # a NaN with other bits, as arithmetic produces it
    found = described(right, got, poisoned=True)
    assert found["unstored"] == {"count": 7, "share": 1, "spans": [span(1, 332, 332, 1)]}
    assert found["nan"]["count"] == 1 and found["memory"] == "nan"
    # Without a poison, as on the host tier, nothing is known about memory.
    found = described(right, got)
    assert (found["unstored"]["count"], found["nan"]["count"], found["memory"]) == (0, 8, None)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (torch.float16, math.nan),
        (torch.bfloat16, math.nan),
        (torch.float64, math.nan),
        (torch.int8, -15),
        (torch.int16, -15),
        (torch.int32, -917519),
        (torch.int64, -3940709804408847),
        (torch.uint8, 241),
    ],
)
def test_every_dtype_has_a_poison(dtype: torch.dtype, value: float) -> None:
    found = described(torch.full((9,), 3, dtype=dtype), poisoned(dtype, 9), 0, poisoned=True)
    assert found["unstored"]["count"] == found["all"]["count"] == 9
    assert poison_value(dtype) == value or math.isnan(poison_value(dtype)) == math.isnan(value)


def test_arithmetic_on_this_processor_does_not_produce_the_poison() -> None:
    infinite = torch.tensor([math.inf])
    for computed in (
        infinite - infinite,
        infinite * 0,
        torch.tensor([-1.0]).sqrt(),
        -(infinite * 0),
    ):
        assert computed.isnan() and not is_poison(computed.view(torch.int32), 0)


def test_an_output_that_is_an_input_may_be_unchanged() -> None:
    before = torch.arange(10.0)
    got = before + 1
    got[5:] = before[5:]
    found = described(before + 1, got, poisoned=True, kept=[before])
    assert found["unstored"]["spans"] == [span(0, 5, 9, 5)] and found["memory"] is None


def test_relations_between_expected_and_actual_values() -> None:
    right = torch.linspace(1, 9, 200).reshape(10, 20)
    assert described(right, right * 2)["ratio"] == pytest.approx(2)
    assert described(right, right - 3)["offset"] == pytest.approx(-3)
    zeros = described(right, -torch.zeros_like(right))
    assert str(zeros["constant"]) == "0.0" and zeros["ratio"] is None
    factors = torch.linspace(0.5, 0.75, 10)[:, None]
    rows = described(right, right * factors)
    assert rows["ratio"] is None and rows["row_ratios"] == pytest.approx([0.5, 0.75])
    noise = described(right, right + torch.rand(10, 20) + 0.1)
    assert [noise[key] for key in ("constant", "ratio", "offset", "row_ratios")] == [None] * 3 + [
        []
    ]
    # The poison of an integer, to which atomics were added.
    counts = torch.arange(37, dtype=torch.int32)
    poison = int(poison_value(torch.int32))
    assert described(counts, counts + poison, 0, poisoned=True)["offset"] == poison


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8])
def test_a_mark_for_none_is_not_the_poison(dtype: torch.dtype) -> None:
    for mark in (-1, 0, torch.iinfo(dtype).max):
        marks = torch.full((9,), mark % 256 if dtype is torch.uint8 else mark, dtype=dtype)
        assert not bool((poisoned(dtype, 9) == marks).all())


def test_the_poison_is_found_from_an_odd_index_on() -> None:
    memory = poisoned(torch.int8, 9)
    assert bool(is_poison(memory[3:], 3).all()) and not bool(is_poison(memory[3:], 4).any())


def test_the_worst_elements_come_with_their_inputs() -> None:
    right, x, bias = torch.zeros(4, 5), torch.arange(20.0).reshape(4, 5), torch.arange(5.0)
    got = right.clone()
    got[1, 2], got[3, 4], got[0, 0], got[2, 2] = 5.0, -7.0, 1.0, 2.0
    inputs = [("x", x), ("bias", bias), ("other", torch.zeros(4, 6))]
    worst = described(right, got, inputs=inputs)["worst"]
    assert [one["index"] for one in worst] == [[3, 4], [1, 2], [2, 2]]
    assert worst[0]["inputs"] == {"x": 19.0, "bias": 4.0}
    assert (worst[0]["expected"], worst[0]["actual"]) == (0.0, -7.0)
    got[:] = math.inf
    assert described(right, got)["worst"][0]["index"] == [0, 0]


def test_chunks_give_the_same_description_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    right = torch.linspace(1, 2, 1000).reshape(10, 100)
    got = right.clone()
    got[:, 37] *= 3
    whole = described(right, got)
    monkeypatch.setitem(comparing.CHUNK, "cpu", 64)
    assert described(right, got) == whole
    assert whole["ratio"] == pytest.approx(3)


def test_a_scalar_and_a_single_element_are_described() -> None:
    assert described(torch.tensor(2.0), torch.tensor(3.0))["worst"][0]["index"] == []
    assert described(torch.ones(1), torch.zeros(1))["all"]["count"] == 1
