"""Tests which memory belongs to tensors: all live memory, whatever its source, and no freed memory.
Also tests the fake addresses that code sees, and the copies that contain a device's values."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from harness.interpreting import live_memory
from harness.interpreting.live_memory import FULL, GAP, WITHOUT, LiveMemory


def holds(live: LiveMemory, address: int) -> bool:
    live.forget_freed()
    starts, ends, _ = live.ranges()
    return any(start <= address < end for start, end in zip(starts, ends, strict=True))


def test_results_of_operations_count_until_they_are_freed() -> None:
    live = LiveMemory()
    with live.watching():
        kept = torch.ones(100)
        gone = torch.ones(100) + 1
        first, second = torch.zeros(6).split(3)
        top = torch.topk(torch.arange(10.0), 3)
    address, start = live.address(gone), live.address(kept)
    assert holds(live, start) and holds(live, start + 399) and not holds(live, start + 400)
    assert holds(live, address)
    for one in (first, second, top.values, top.indices):
        assert holds(live, live.address(one))
    assert live.address(second) - live.address(first) == 12
    del gone
    assert not holds(live, address)


def test_a_foreign_tensor_counts_once_it_was_seen_or_its_pointer_was_read() -> None:
    live = LiveMemory()
    seen, asked = torch.ones(10), torch.from_numpy(np.ones(10))
    assert not live.watched and live.ranges()[0] == []
    live.block(seen[5:])
    with live.watching():
        assert live.watched
        address = asked.data_ptr()
    assert address == live.address(asked) and holds(live, address)
    assert holds(live, live.address(seen))


def test_code_sees_the_same_addresses_in_every_process_and_none_of_them_is_memory() -> None:
    def addresses() -> list[int]:
        live = LiveMemory()
        with live.watching():
            return [torch.ones(n).data_ptr() for n in (1, 1000, 1 << 20)]

    assert addresses() == addresses()
    for address in addresses():
        assert address % live_memory.ALIGNMENT == 0 and address < 1 << 47
    with open("/proc/self/maps", encoding="ascii") as maps:
        for line in maps:
            low, high = (int(part, 16) for part in line.split()[0].split("-"))
            assert not any(low <= address < high for address in addresses())


def test_a_stray_access_meets_no_other_tensor() -> None:
    live = LiveMemory()
    with live.watching():
        tensors = [torch.ones(1000) for _ in range(3)]
    starts, ends, _ = live.ranges()
    assert len(tensors) == len(starts) == 3
    assert all(start - end >= GAP for start, end in zip(starts[1:], ends[:-1], strict=True))


def test_a_resized_tensor_counts_at_its_new_address() -> None:
    live = LiveMemory()
    with live.watching():
        tensor, behind = torch.ones(4), torch.ones(4)
        tensor.resize_(1 << 20)
    last = live.address(tensor) + tensor.nbytes - 1
    assert holds(live, last) and not live.address(behind) <= last < live.address(behind) + 16


def test_kernels_have_copies_that_begin_with_the_values() -> None:
    live = LiveMemory()
    tensor = torch.arange(6.0)
    block = live.block(tensor)
    assert block is not None and live.view(tensor, FULL) is tensor
    assert live.memory_of(block) not in (0, tensor.data_ptr())
    live.view(tensor[2:], FULL).fill_(7)
    assert torch.equal(live.view(tensor, FULL), torch.tensor([0.0, 1, 7, 7, 7, 7]))
    assert torch.equal(live.view(tensor, WITHOUT), tensor)
    assert torch.equal(tensor, torch.arange(6.0))
    assert live.memory_of(block) == live.view(tensor, FULL).data_ptr()


def test_kernels_read_a_known_argument_itself() -> None:
    live = LiveMemory()
    tensor = torch.arange(6)
    block = live.block(tensor)
    assert block is not None
    block.known = "offsets"
    assert live.memory_of(block) == tensor.data_ptr()


def test_tensors_without_memory_do_not_count() -> None:
    class Wrapper(torch.Tensor):
        __torch_dispatch__ = None

    live = LiveMemory()
    hollow = torch.Tensor._make_wrapper_subclass(Wrapper, (3,))  # type: ignore[attr-defined]
    several = [
        torch.empty(5, device="meta"),
        torch.empty(0),
        torch.eye(3).to_sparse(),
        torch._efficientzerotensor(3),
        hollow,
    ]  # type: ignore[attr-defined]
    for one in several:
        live.block(one)
    assert live.ranges() == ([], [], [])


def test_freed_storages_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_memory, "PRUNE_AFTER", 10)
    live = LiveMemory()
    with live.watching():
        for _ in range(100):
            torch.ones(3)
    assert len(live._blocks) <= 11
