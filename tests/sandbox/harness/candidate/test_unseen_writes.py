"""Tests that what host code writes to a kernel's memory unseen (harness/candidate/storages.py) is not
the kernel's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from shadow_world import World


def test_memory_that_something_else_wrote_does_not_depend(world: World) -> None:
    """numpy, or a library that is called by its address, writes without torch and without a
    launch."""
    x = torch.zeros(8)
    x.numpy()[:] = 5
    world.kernel(torch.zeros(8))
    assert not world.depends(x)


def in_a_thread(act: Callable[[], Any]) -> None:
    thread = threading.Thread(target=act)
    thread.start()
    thread.join()


UNSEEN: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "numpy": lambda x, right: x.numpy().__setitem__(slice(None), right.numpy()),
    "a thread": lambda x, right: in_a_thread(lambda: x.copy_(right)),
    "another storage": lambda x, right: torch.from_dlpack(x).copy_(right),
}
# What a kernel without use wrote before, and what is written unseen. Some bytes of them are equal, and
# some elements.
DECOYS: dict[str, tuple[torch.dtype, float]] = {
    "int64": (torch.int64, 0),
    "int32": (torch.int32, 3),
    "int16": (torch.int16, 257),
    "uint8": (torch.uint8, 7),
    "bool": (torch.bool, 1),
    "float16": (torch.float16, 1),
    "float32": (torch.float32, 1),
    "float64": (torch.float64, 0.5),
    "complex64": (torch.complex64, 1),
}
MAKERS: dict[str, Callable[..., torch.Tensor]] = {"zeros": torch.zeros, "empty": torch.empty}


def right_values(dtype: torch.dtype) -> torch.Tensor:
    """Returns values of which the first and the last differ from each decoy."""
    values = torch.arange(1, 257) % 251 + 1
    values[-1] = 2
    if dtype is torch.bool:
        return values % 3 == 2
    return values.to(dtype) if not dtype.is_floating_point else (values / 256 + 0.1).to(dtype)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("decoy", DECOYS)
@pytest.mark.parametrize("name", UNSEEN)
def test_an_unseen_write_to_a_kernels_memory_is_not_the_kernels(
    world: World, name: str, decoy: str, maker: str, last: bool
) -> None:
    """The write happens after a launch that got the memory, and perhaps before another one. No
    element counts as the kernel's, also where the kernel wrote the same value or the same bytes."""
    dtype, value = DECOYS[decoy]
    right = right_values(dtype)
    x = world.kernel(MAKERS[maker](256, dtype=dtype), value)
    UNSEEN[name](x, right)
    if last:
        with world.shadows.launch((x,)):
            pass
    assert torch.equal(x, right)
    changed = right != torch.as_tensor(value, dtype=dtype)
    at = changed.nonzero().flatten()
    seen = world.shadows.view(x)[int(at[0]) : int(at[-1]) + 1]
    assert torch.equal(seen, right[int(at[0]) : int(at[-1]) + 1])
    assert seen.numel() > 250


def test_a_large_storage_is_compared_in_parts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.candidate.storages.PART_ELEMENTS", 3)
    x = world.kernel(torch.zeros(16), 1.0)
    x.numpy()[[1, 12]] = 5
    assert world.shadows.view(x).tolist() == [0.0] + [5.0] + [1.0] * 10 + [5.0] + [0.0] * 3


def test_bytes_behind_the_last_element_are_taken_over(world: World) -> None:
    storage = torch.zeros(11, dtype=torch.uint8)
    world.kernel(storage[:8].view(torch.int64), 1)
    storage.numpy()[9] = 5
    assert world.shadows.view(storage).tolist() == [0] * 9 + [5, 0]


def test_an_unseen_write_to_a_part_leaves_the_rest_to_the_kernel(world: World) -> None:
    x = world.kernel(torch.zeros(8), 1.0)
    x.numpy()[:2] = 5
    y = x + 1
    assert world.shadows.view(y).tolist() == [6.0] * 2 + [1.0] * 6
