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
