"""Tests the random numbers for inputs of operators."""

from __future__ import annotations

import torch
from harness.operator import Rng


def test_a_product_of_picks_shows_a_rounding_to_bfloat16() -> None:
    a, b = (one.to(torch.float16).double() for one in Rng(1, "cpu").picks(8, 6, 40))
    product = a @ b
    for row in product[::2]:
        assert torch.isin(row, a).all()
    for row in product[1::2]:
        assert torch.isin(row, b).all()
    assert product.abs().min() >= 4 and product.abs().max() < 8
    assert torch.equal(product.to(torch.float16).double(), product)
    for left, right in ((a.bfloat16().double(), b), (a, b.bfloat16().double())):
        assert (left @ right - product).abs().max() > 0.01


def test_fine_values_are_exact_in_float16_and_not_in_bfloat16() -> None:
    values = Rng(1, "cpu").fine((1000,), high=7.0)
    assert torch.equal(values.half().float(), values)
    assert values.abs().min() >= 4 and values.abs().max() < 7
    assert values.min() < 0 < values.max()
    assert (values.bfloat16().float() - values).abs().max() == 1 / 64


def test_sums_of_swells_are_exact_in_float32_and_need_more_bits_than_float16_has() -> None:
    a, b = Rng(1, "cpu").swells(8, 256, 5)
    assert torch.equal(a.half().float(), a) and torch.equal(b.half().float(), b)
    product = a.double() @ b.double()
    assert torch.equal((a @ b).double(), product)
    assert torch.equal(product.half().double(), product)
    assert product.abs().min() >= 4 and product.abs().max() < 8
    sums = torch.stack([a[:, :end].double() @ b[:end].double() for end in range(32, 256, 32)])
    assert torch.equal(sums.float().double(), sums)
    assert (sums.half().double() - sums).abs().amax((1, 2)).min() > 0.01
