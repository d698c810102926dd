"""Tests that a launch finds the memory behind the addresses that a kernel gets, however host code has
come to know them. A function of the test acts as the kernels."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from harness.candidate.addresses import LOWEST, KnownMemory, numbers_in
from harness.candidate.origins import Origins
from shadow_world import World
from torch.utils._python_dispatch import _disable_current_modes


def _address_without_modes(tensor: torch.Tensor) -> int:
    with torch._C.DisableTorchFunction():
        return tensor.data_ptr()


SOURCES: dict[str, Callable[[torch.Tensor], int]] = {
    "storage": lambda tensor: tensor.untyped_storage().data_ptr(),
    "numpy": lambda tensor: int(tensor.numpy().ctypes.data),
    "without torch functions": _address_without_modes,
}


def at(address: int, count: int) -> torch.Tensor:
    return torch.frombuffer((ctypes.c_float * count).from_address(address), dtype=torch.float32)


@pytest.fixture
def followed(world: World) -> Iterator[Origins]:
    made = Origins(world.shadows)
    with made.watching():
        yield made


def copied(origins: Origins, given: Any, out: torch.Tensor, find: Callable[[Any], int]) -> None:
    """Acts as a kernel that copies from the address that `find` finds in its arguments."""
    with origins.launch((given, out)) as (here, target), _disable_current_modes():
        target.copy_(at(find(here), out.numel()))


@pytest.mark.parametrize("source", SOURCES)
def test_a_kernel_writes_where_an_integer_or_a_table_leads(world: World, source: str) -> None:
    x = torch.zeros(8)
    place = SOURCES[source](x) + 4
    world.kernel(x, 5.0, given=(place, 2), find=lambda given: at(given[0], 7))
    assert x.tolist() == [0.0] + [5.0] * 7 and world.depends(x[1:]) and not world.depends(x[:1])
    y = torch.zeros(8)
    table = torch.tensor([0, SOURCES[source](y), 3])
    world.kernel(y, given=(table,), find=lambda given: at(int(given[0][1]), 8))
    assert y.tolist() == [7.0] * 8 and world.depends(y)


def test_a_table_may_lead_to_a_table(world: World) -> None:
    x = torch.zeros(8)
    inner = torch.tensor([SOURCES["storage"](x)])
    outer = torch.tensor([SOURCES["storage"](inner)])

    def find(given: Any) -> torch.Tensor:
        first = ctypes.c_int64.from_address(int(given[0][0])).value
        return at(first, 8)

    world.kernel(x, given=(outer,), find=find)
    assert world.depends(x) and inner.tolist() == [x.data_ptr()]


@pytest.mark.parametrize("table", [False, True])
@pytest.mark.parametrize("source", SOURCES)
def test_what_lies_at_an_address_decides_about_the_result(
    followed: Origins, source: str, table: bool
) -> None:
    x, y = torch.arange(8.0), torch.ones(8)
    followed.give([x, y])
    for made, of_torch in ((x, False), (x + y, True)):
        place, out = SOURCES[source](made), torch.empty(8)
        given = torch.tensor([place]) if table else place
        copied(followed, given, out, lambda one: int(one[0]) if table else one)
        assert torch.equal(out, made)
        assert followed.is_of_torch(out) == of_torch


@pytest.mark.parametrize("viewed", [False, True])
def test_memory_that_no_mode_has_seen_counts_as_torchs(followed: Origins, viewed: bool) -> None:
    x, y, sums = torch.arange(8.0), torch.ones(8), []
    followed.give([x, y])
    thread = threading.Thread(target=lambda: sums.append(x + y))
    thread.start()
    thread.join()
    out, table = torch.empty(8), torch.tensor([SOURCES["storage"](sums[0])])
    given = table.view(torch.float64) if viewed else table
    copied(followed, given, out, lambda one: int(one.view(torch.int64)[0]))
    assert torch.equal(out, x + y)
    assert followed.is_of_torch(out)


def test_sizes_and_large_numbers_are_no_addresses(followed: Origins) -> None:
    x, out = torch.ones(8), torch.empty(8)
    followed.give([x])
    with followed.launch((x, out, 1 << 22, True, torch.tensor([1 << 60, -1, 12]))) as given:
        with _disable_current_modes():
            given[1].copy_(given[0])
    assert not followed.is_of_torch(out)


def test_integers_of_subclasses_and_numpys_integers_count() -> None:
    class Number(int):
        def __index__(self) -> int:
            raise AssertionError("code of a submission runs")

        __int__ = __add__ = __sub__ = __rsub__ = __index__  # type: ignore[assignment]

    given = ((Number(LOWEST + 1), {"at": np.int64(LOWEST + 2)}), [LOWEST + 3, 7, 2.5, None])
    assert numbers_in(given).tolist() == [LOWEST + 1, LOWEST + 2, LOWEST + 3]


def test_storages_that_share_memory_are_found_once() -> None:
    memory, x = KnownMemory(), torch.zeros(8)
    other = torch.from_dlpack(x)
    memory.note(other, x)
    numbers = numbers_in([x.data_ptr(), x.data_ptr() + 31])
    found, unknown = memory.at(numbers, [x.untyped_storage()])
    assert [one._cdata for one, _ in found if one] == [x.untyped_storage()._cdata] and not unknown
    del x, other, found
    memory.forget_freed()
    assert memory._known == {}


def test_launches_of_two_threads_keep_the_results_of_both(world: World) -> None:
    """Both kernels work on a copy of the whole storage."""
    x, first_has_written, second_ends = torch.zeros(8), threading.Event(), threading.Event()
    calls: list[int] = []

    def second() -> None:
        first_has_written.wait()
        world.kernel(x[4:], 2.0)
        second_ends.set()

    def meanwhile() -> None:  # is called before and after the first kernel writes
        calls.append(len(calls))
        if len(calls) == 2:
            first_has_written.set()
            second_ends.wait(0.2)  # the second launch does not end before the first one

    thread = threading.Thread(target=second)
    thread.start()
    world.kernel(x[:4], 1.0, meanwhile=meanwhile)
    thread.join()
    assert x.tolist() == [1.0] * 4 + [2.0] * 4
    assert world.depends(x[:4]) and world.depends(x[4:])


def test_a_kernel_gets_pinned_memory_in_place_of_pinned_memory(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU cannot read other memory of the CPU."""
    pinned: list[int] = []
    x = torch.zeros(8)

    def pin(storage: torch.UntypedStorage) -> torch.UntypedStorage:
        pinned.append(storage._cdata)
        return storage

    monkeypatch.setattr(torch.UntypedStorage, "is_pinned", lambda one: one.nbytes() == x.nbytes)
    monkeypatch.setattr(torch.UntypedStorage, "pin_memory", pin)
    with world.shadows.launch((x, torch.zeros(9))) as (given, other):
        assert given.untyped_storage()._cdata in pinned
        assert other.untyped_storage()._cdata not in pinned


COMPOSITES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "to": lambda x: x.to(torch.float64),
    "contiguous": lambda x: x.view(2, 4).t().contiguous(),
    "reshape": lambda x: x.view(2, 4).t().reshape(-1),
    "flatten": lambda x: x.view(2, 4).t().flatten(),
    "pad": lambda x: torch.nn.functional.pad(x, (0, 3)),
    "type_as": lambda x: x.type_as(torch.zeros(1, dtype=torch.float64)),
    "product": lambda x: torch.ones(2, 8) @ x,
}


@pytest.mark.parametrize("inference", [False, True])
@pytest.mark.parametrize("name", COMPOSITES)
def test_an_operation_that_calls_others_passes_the_shadow_on(
    world: World, name: str, inference: bool
) -> None:
    """torch.inference_mode() gives such an operation to a mode as a whole, some as a view."""
    with torch.inference_mode(inference):
        z = world.kernel(torch.zeros(8), torch.arange(1.0, 9.0))
        assert world.depends(COMPOSITES[name](z))
