"""The memory that counts as a tensor's: all live memory, from every source, and no freed memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from harness.interpreting import live_memory
from harness.interpreting.live_memory import LiveMemory


def holds(live: LiveMemory, address: int) -> bool:
    live.forget_freed()
    return any(start <= address < end for start, end in zip(*live.ranges(), strict=True))


def test_results_of_operations_count_until_they_are_freed() -> None:
    live = LiveMemory()
    with live.watching():
        kept = torch.ones(100)
        gone = torch.ones(100) + 1
        first, second = torch.zeros(6).split(3)
        top = torch.topk(torch.arange(10.0), 3)
    address = gone.data_ptr()
    assert (
        holds(live, kept.data_ptr())
        and holds(live, kept.data_ptr() + 399)
        and not holds(live, kept.data_ptr() + 400)
    )
    assert holds(live, address) and holds(live, second.data_ptr()) and holds(live, first.data_ptr())
    assert holds(live, top.values.data_ptr()) and holds(live, top.indices.data_ptr())
    del gone
    assert not holds(live, address)


def test_a_foreign_tensor_counts_once_it_was_seen_or_its_pointer_was_read() -> None:
    live = LiveMemory()
    seen, asked = torch.ones(10), torch.from_numpy(np.ones(10))
    assert not live.watched and not holds(live, seen.data_ptr())
    live.add(seen[5:])
    with live.watching():
        assert live.watched
        asked.data_ptr()
    assert holds(live, seen.data_ptr()) and holds(live, asked.data_ptr())


def test_a_resized_tensor_counts_at_its_new_address() -> None:
    live = LiveMemory()
    with live.watching():
        tensor = torch.ones(4)
        tensor.resize_(1 << 20)
    assert holds(live, tensor.data_ptr() + tensor.nbytes - 1)


def test_storages_over_the_same_bytes_are_one_range() -> None:
    live = LiveMemory()
    array = np.zeros(100, dtype=np.uint8)
    parts = [torch.from_numpy(array[low:high]) for low, high in ((0, 60), (10, 20), (40, 100))]
    for part in parts:
        live.add(part)
    assert live.ranges() == ([array.ctypes.data], [array.ctypes.data + 100])


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
        live.add(one)
    assert live.ranges() == ([], [])


def test_freed_storages_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_memory, "PRUNE_AFTER", 10)
    live = LiveMemory()
    with live.watching():
        for _ in range(100):
            torch.ones(3)
    assert len(live._seen) <= 11
