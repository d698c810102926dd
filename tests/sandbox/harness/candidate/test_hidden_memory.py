"""Tests that a kernel cannot read what torch has computed, except what it was given."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from harness.candidate import hidden_memory
from harness.candidate.hidden_memory import FreedMemory, HiddenMemory
from harness.candidate.origins import Origin
from harness.wire.poison import fill_poison
from origin_world import Given
from torch.utils._python_dispatch import _disable_current_modes


def poisoned(like: torch.Tensor) -> torch.Tensor:
    memory = torch.empty(like.nbytes, dtype=torch.uint8)
    fill_poison(memory)
    return memory.view(like.dtype)


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.view(torch.int32), b.view(torch.int32))


def test_hidden_memory_has_the_poison_until_it_is_shown() -> None:
    tensor, part = torch.arange(6.0), torch.arange(9.0)[2:5]
    hidden = HiddenMemory([tensor.untyped_storage(), part.untyped_storage()])
    assert same_bits(tensor, poisoned(tensor)) and same_bits(part, poisoned(part))
    hidden.show()
    assert tensor.tolist() == [0, 1, 2, 3, 4, 5] and part.tolist() == [2, 3, 4]


def test_memory_that_torch_did_not_allocate_stays() -> None:
    of_numpy, empty = torch.from_numpy(np.arange(3)), torch.empty(0)
    hidden = HiddenMemory([of_numpy.untyped_storage(), empty.untyped_storage()])
    assert of_numpy.tolist() == [0, 1, 2]
    hidden.show()


def test_freed_memory_is_filled_before_torch_can_give_it_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    filled = []

    def fill(memory: torch.Tensor) -> None:
        fill_poison(memory)
        filled.append(memory.data_ptr())

    monkeypatch.setattr(hidden_memory, "fill_poison", fill)
    freed = FreedMemory()
    tensor = torch.arange(6.0)
    view, address = tensor[2:], tensor.data_ptr()
    freed.hold(tensor.untyped_storage())
    freed.clear()
    del tensor
    freed.clear()
    assert not filled and view.tolist() == [2, 3, 4, 5]
    del view
    freed.clear()
    assert filled == [address]
    freed.clear()
    assert filled == [address]


@pytest.mark.parametrize("passed", [True, False], ids=["given", "not given"])
def test_a_kernel_reads_torchs_results_only_if_it_gets_them(passed: bool) -> None:
    given = Given()
    with given.shadows.watching(), given.origins.watching():
        made = given.x + given.y
        out = torch.empty_like(made)
        arguments = (out, made) if passed else (out,)
        with given.origins.launch(arguments) as (target, *_), _disable_current_modes():
            target.copy_(made)  # as if the kernel had made the address
        assert given.origins.origin(made) is Origin.TORCH
        right = made.clone()
    assert made.tolist() == (given.x + given.y).tolist()
    assert same_bits(out, right if passed else poisoned(out))
    assert given.of_torch(out) is passed


def test_a_kernel_reads_no_freed_results_of_torch() -> None:
    given = Given()
    with given.shadows.watching(), given.origins.watching():
        made = given.x + given.y
        held = given.origins._freed._held
        assert [one.data_ptr() for one in held.values()] == [made.data_ptr()]
        del made
        given.kernel(torch.empty(64), given.x)
        assert not held
