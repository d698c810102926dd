"""Tests that uninitialised memory has the requested contents: tensors that torch does not
initialise, and the margins around a tensor."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from harness.imported.surroundings import FINITE, MARGIN_BYTES, Contents, Surroundings, placed
from harness.wire.tensors import DTYPES
from torch._subclasses.fake_tensor import FakeTensorMode


def beyond(x: torch.Tensor, elements: int) -> torch.Tensor:
    """Returns the element that is `elements` elements behind x's first element in memory. If the
    number is negative, the element is before x."""
    return torch.as_strided(x, (1,), (1,), x.storage_offset() + elements)


@pytest.mark.parametrize("dtype", DTYPES.values())
@pytest.mark.parametrize("contents", list(Contents))
def test_uninitialised_tensors_hold_the_contents_in_every_type(
    dtype: torch.dtype, contents: Contents
) -> None:
    with Surroundings(contents, "cpu"):
        x = torch.empty(3, 2, dtype=dtype)
    wide = x.double()
    if dtype is torch.bool:
        assert bool((x == (contents is not Contents.ZERO)).all())
    elif dtype.is_floating_point:
        want = {Contents.ZERO: 0.0, Contents.NOT_A_NUMBER: float("nan"), Contents.LARGE: FINITE}[
            contents
        ]
        assert torch.allclose(wide, torch.full((3, 2), want).to(dtype).double(), equal_nan=True)
    else:
        # An uninitialised integer contains a small number. So a kernel that uses this integer as an
        # index stays inside mapped memory.
        assert bool((wide == contents.value[1]).all())


def test_every_operation_that_leaves_memory_uninitialised_is_covered() -> None:
    base = torch.zeros(4, 3)
    with Surroundings(Contents.LARGE, "cpu"):
        made = [
            torch.empty(4, 3),
            torch.empty_like(base),
            base.new_empty(4, 3),
            torch.empty_strided((4, 3), (1, 4)),
            base.new_empty_strided((4, 3), (3, 1)),
            torch.empty_permuted((4, 3), (1, 0)),
        ]
        written = torch.ones(4, 3)
        elsewhere = torch.empty(4, 3, device="meta")
    assert all(bool((x == FINITE).all()) for x in made)
    assert made[3].stride() == (1, 4) and bool((written == 1).all()) and elsewhere.is_meta


def test_margins_surround_every_fresh_tensor() -> None:
    given = torch.arange(6.0)
    with Surroundings(Contents.LARGE, "cpu"):
        fresh = given + 1
        view = given[2:]
        filled = torch.empty(5).fill_(2)
    assert torch.equal(fresh, torch.arange(6.0) + 1)
    assert view.untyped_storage().data_ptr() == given.untyped_storage().data_ptr()
    assert (
        beyond(fresh, 6) == FINITE
        and beyond(fresh, -1) == FINITE
        and beyond(fresh, MARGIN_BYTES // 4) == FINITE
    )
    assert bool((filled == 2).all()) and beyond(filled, 5) == FINITE


def test_gradients_and_views_work_as_usual() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            out = torch.empty_like(x)
            out.copy_(2 * x)
            return out

        @staticmethod
        def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
            return 2 * grads[0]

    with Surroundings(Contents.NOT_A_NUMBER, "cpu"):
        x = torch.ones(4, 4, requires_grad=True)
        Double.apply(x.t()[1:]).sum().backward()
        y = torch.zeros(4, 4)
        y[1:3].t().fill_(3)
        first, second = y.split(2)
        first += 1
    assert x.is_leaf and x.grad is not None and x.grad.sum() == 24
    assert y.sum() == 8 * 3 + 8 and second.sum() == 12
    with FakeTensorMode(), Surroundings(Contents.LARGE, "cpu"):
        assert torch.empty(3).add(1).shape == (3,)


def test_arguments_keep_form_and_values() -> None:
    x = torch.arange(24.0).reshape(4, 6).t()[:, ::2]
    copy = placed(x, torch.float32, Contents.LARGE)
    assert torch.equal(copy, x) and copy.stride() == x.stride() and beyond(copy, -1) == FINITE
    narrow = placed(x.double(), torch.float16, Contents.ZERO)
    assert narrow.dtype == torch.float16 and torch.equal(narrow, x.half())
    expanded = torch.ones(1, 3).expand(5, 3)
    assert torch.equal(placed(expanded, torch.float32, Contents.ZERO), expanded)
