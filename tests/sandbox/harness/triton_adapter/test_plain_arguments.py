"""Tests that a launch gets no value with code of the submission."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from harness.candidate.addresses import numbers_in
from harness.candidate.operands import addresses_of, tensors_of
from harness.triton_adapter.launches import Address
from harness.triton_adapter.plain_arguments import Pointer, plain, with_fixed_addresses
from triton.runtime.jit import TensorWrapper
from triton.tools.tensor_descriptor import TensorDescriptor

ADDRESS = 1 << 40


class Pair(NamedTuple):
    x: Any
    n: Any


class Number(int):
    def __index__(self) -> int:
        return 1


class NumpysNumber(np.int64):
    def __int__(self) -> int:
        return 1


class Share(float):
    def __float__(self) -> float:
        return 9.0


class Text(str):
    pass


class Hiding(tuple[Any, ...]):
    def __iter__(self) -> Any:
        return iter((1, 2))


class HidingList(list[Any]):
    def __iter__(self) -> Any:
        return iter((1, 2))


class Late:
    """Has a data_ptr() only from the second time on."""

    dtype = torch.float32

    def __init__(self) -> None:
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        if name != "data_ptr":
            raise AttributeError(name)
        self.reads += 1
        if self.reads < 2:
            raise AttributeError(name)
        return lambda: ADDRESS


def pointer(argument: Any, address: int) -> tuple[str, int]:
    return "pointer", address


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (Number(ADDRESS), ADDRESS),
        (NumpysNumber(ADDRESS), ADDRESS),
        (Share(-0.0), -0.0),
        (Text("ieee"), "ieee"),
        (Hiding((Number(ADDRESS), 2)), (ADDRESS, 2)),
        (HidingList([Number(ADDRESS)]), [ADDRESS]),
        ({"at": Number(ADDRESS)}, {"at": ADDRESS}),
        (np.int32(3), np.int32(3)),
        (True, True),
        (None, None),
        (Late(), None),
        (torch.float16, torch.float16),
        (tl.float16, tl.float16),
    ],
)
def test_a_value_has_a_class_of_python_or_of_a_library(given: Any, seen: Any) -> None:
    found = plain(given, pointer)
    assert found == seen and type(found) is type(seen) and repr(found) == repr(seen)


def test_tensors_stay_and_other_objects_are_asked_once_for_their_address() -> None:
    tensor = torch.zeros(4)
    assert plain(tensor, pointer) is tensor
    changed: Any = torch.zeros(4)
    changed.data_ptr = lambda: Number(ADDRESS)
    assert plain(changed, pointer) == ("pointer", ADDRESS)
    late = Late()
    late.reads = 1
    assert plain((late,), pointer) == (("pointer", ADDRESS),)
    assert late.reads == 2


def test_a_reinterpreted_tensor_keeps_its_type() -> None:
    tensor = torch.zeros(4, dtype=torch.int32)
    found = plain(triton.reinterpret(tensor, tl.float32), pointer)
    assert type(found) is TensorWrapper and found.base is tensor and found.dtype is tl.float32
    given = with_fixed_addresses(found)
    assert (given.data_ptr(), given.dtype) == (tensor.data_ptr(), tl.float32)
    late = Late()
    late.reads = 1
    of_own_class = TensorWrapper.__new__(TensorWrapper)
    of_own_class.base, of_own_class.dtype = late, tl.int8
    found = plain(of_own_class, lambda one, at: Pointer(one.dtype, at))
    assert (found.data_ptr(), found.dtype) == (ADDRESS, tl.int8)


def test_a_launcher_gets_the_addresses_that_torch_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor = torch.zeros(16, 16)
    address = tensor.data_ptr()
    descriptor = TensorDescriptor(tensor, [16, 16], [16, 1], [16, 16])
    monkeypatch.setattr(torch.Tensor, "data_ptr", lambda _: ADDRESS)
    monkeypatch.setattr(torch.Tensor, "dtype", torch.int8)
    given = plain((tensor, Pair(tensor, 3), [tensor], descriptor, 5), pointer)
    one, pair, (part,), described, number = with_fixed_addresses(given)
    for found in (one, pair.x, part, described.base):
        assert (found.data_ptr(), found.dtype) == (address, torch.float32)
    assert (pair.n, number) == (3, 5)
    assert descriptor.base is tensor


def test_the_names_of_a_tuple_stay() -> None:
    tensor = torch.zeros(4)
    found = plain(Pair(tensor, Number(3)), pointer)
    assert found.x is tensor and type(found.n) is int and type(found) is not Pair


def test_an_address_in_a_constant_is_a_number_of_the_launch() -> None:
    found = plain(tl.constexpr(Number(ADDRESS)), pointer)
    assert type(found) is tl.constexpr and type(found.value) is int
    assert numbers_in((found,)).tolist() == [ADDRESS]


def test_a_descriptor_is_a_copy_with_plain_parts() -> None:
    tensor = torch.zeros(16, 16)
    given = TensorDescriptor(tensor, [Number(16), 16], [16, 1], [16, 16])
    found = plain(given, pointer)
    assert found is not given and found.base is tensor
    assert [type(one) for one in found.shape] == [int, int]
    given.base = torch.zeros(1)
    assert found.base is tensor

    class Own(TensorDescriptor):
        def __getattribute__(self, name: str) -> Any:
            return ADDRESS if name == "strides" else super().__getattribute__(name)

    own = object.__new__(Own)
    own.__dict__.update(vars(found))
    found = plain(own, pointer)
    assert type(found) is TensorDescriptor and found.strides == [16, 1]

    class Padding(str):
        def __eq__(self, other: object) -> bool:
            raise AssertionError("code of the submission runs")

        __hash__ = str.__hash__

    given.padding = Padding("zero")
    assert type(plain(given, pointer).padding) is str


def test_what_a_descriptor_contains_is_seen() -> None:
    late = Late()
    late.reads = 1
    descriptor = TensorDescriptor(torch.zeros(16, 16), [16, 16], [Number(ADDRESS), 1], [16, 16])
    assert numbers_in((plain(descriptor, pointer),)).tolist() == [ADDRESS]
    assert list(tensors_of((plain(descriptor, pointer),))) == [descriptor.base]
    descriptor.base = late
    found = plain(descriptor, lambda _, address: Address(address))
    assert list(addresses_of((found,))) == [ADDRESS]
    assert with_fixed_addresses(found).base.data_ptr() == ADDRESS
    late.reads = 1
    found = plain(descriptor, lambda _, address: Pointer(torch.float32, address))
    assert list(addresses_of((found,))) == [None]
