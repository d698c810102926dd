"""Tests which arguments of a launch refer to private copies of memory, and that addresses in tensors
do while the kernel runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
from harness.candidate.private_memory import PrivateMemory, may_hold_addresses


@dataclass
class Descriptor:
    base: torch.Tensor
    shape: list[int]


class Frozen:
    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor

    @property
    def base(self) -> torch.Tensor:
        return self._tensor


class Pair(NamedTuple):
    first: Any
    second: Any


def private(*tensors: torch.Tensor) -> tuple[PrivateMemory, list[torch.UntypedStorage]]:
    copies = [tensor.untyped_storage().clone() for tensor in tensors]
    pairs = zip(tensors, copies, strict=True)
    memory = [(one.untyped_storage(), made, may_hold_addresses(one)) for one, made in pairs]
    return PrivateMemory(memory), copies


def test_tensors_of_all_arguments_lie_in_the_copies() -> None:
    x, other = torch.arange(12.0), torch.ones(3)
    memory, (made,) = private(x)
    part = x.view(3, 4)[1:, ::2]
    given = memory.arguments(
        ((part, Pair(x, 3)), {"at": Descriptor(x, [12])}, [other, 2.5, True, None, "text"])
    )
    (view, pair), named, rest = given
    for one in (view, pair.first, named["at"].base):
        assert one.untyped_storage()._cdata == made._cdata
    assert torch.equal(view, part) and view.stride() == part.stride()
    assert pair.second == 3 and named["at"].shape == [12]
    assert rest[0] is other and rest[1:] == [2.5, True, None, "text"]


def test_a_class_that_lets_its_base_not_be_changed_stays() -> None:
    x = torch.zeros(4)
    memory, _ = private(x)
    assert memory.arguments(Frozen(x)).base is x


def test_integers_are_changed_only_if_they_are_addresses() -> None:
    x = torch.zeros(4)
    memory, (made,) = private(x)
    first = x.data_ptr()
    given = memory.arguments((first, first + 15, first + 16, first - 1, 4, True))
    assert given == (made.data_ptr(), made.data_ptr() + 15, first + 16, first - 1, 4, True)


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("dtype", [torch.int64, torch.uint64, torch.uint8])
def test_addresses_in_a_table_refer_to_the_copies_while_they_are_hidden(
    dtype: torch.dtype, captured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.candidate.private_memory.is_captured", lambda _: captured)
    x, y = torch.zeros(4), torch.zeros(5)
    numbers = [7, x.data_ptr(), -1, y.data_ptr() + 8, y.data_ptr() + 20, 0]
    table = torch.tensor(numbers).view(dtype)
    memory, (of_x, of_y, of_table) = private(x, y, table)
    words = torch.empty(0, dtype=torch.int64).set_(of_table, 0, (6,), (1,))  # type: ignore[call-overload]
    memory.hide()
    hidden = [7, of_x.data_ptr(), -1, of_y.data_ptr() + 8, y.data_ptr() + 20, 0]
    assert words.tolist() == hidden
    words[0] = of_x.data_ptr() + 4  # a kernel stores an address
    memory.show()
    assert words.tolist() == [x.data_ptr() + 4, *numbers[1:]]


def test_pairs_of_small_integers_and_large_bytes_are_no_addresses() -> None:
    assert not may_hold_addresses(torch.zeros(4, dtype=torch.int32))
    assert not may_hold_addresses(torch.zeros(4))
    assert not may_hold_addresses(torch.zeros(2 << 20, dtype=torch.uint8))
