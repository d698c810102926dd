"""Tests shadows: what tensors would contain without the results of kernels. A function of the test
acts as the kernels. Operations on shadows get the operands of substitutes.py."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from harness.candidate.storages import MAPPED_BYTES
from shadow_world import World
from torch.utils._python_dispatch import _disable_current_modes


def test_a_result_of_a_kernel_depends_on_it(world: World) -> None:
    x = world.kernel(torch.zeros(8))
    assert world.depends(x)
    assert torch.equal(world.shadows.view(x), torch.zeros(8))


def test_a_tensor_that_no_kernel_got_has_no_shadow(world: World) -> None:
    world.kernel(torch.zeros(8))
    y = torch.ones(8) * 3
    assert world.shadows.view(y) is y


OPERATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sum": lambda x: x + 1,
    "product": lambda x: torch.ones(2, 8) @ x,
    "view": lambda x: x[2:5].view(-1),
    "copy": lambda x: torch.zeros(8).copy_(x),
    "copy_into_a_part": lambda x: _filled(torch.zeros(16), x),
    "concatenation": lambda x: torch.cat([torch.zeros(2), x]),
    "conversion": lambda x: x.double().half(),
    "two_results": lambda x: x.sort().values,
    "out": lambda x: torch.add(x, 1, out=torch.empty(8)),
    "in_place": lambda x: torch.zeros(8).add_(x),
    "data": lambda x: x.data.clone().detach(),
    "list": lambda x: torch._foreach_add([x, x], 1.0)[1],
    "split": lambda x: x.split(4)[1].clone(),
}


def _filled(target: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
    target[3:11] = part
    return target


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_torch_computes_from_a_result_depends_on_the_kernel(world: World, name: str) -> None:
    result = OPERATIONS[name](world.kernel(torch.zeros(8), torch.arange(1.0, 9.0)))
    assert world.depends(result)


def test_a_tensor_that_torch_overwrites_does_not_depend_on_the_kernel(world: World) -> None:
    x = world.kernel(torch.zeros(8))
    x.copy_(torch.arange(8.0))
    assert not world.depends(x)


def test_host_code_reads_what_the_kernels_wrote(world: World) -> None:
    x = world.kernel(torch.zeros(8))
    assert x.tolist() == [7.0] * 8
    assert float((x * 2).sum()) == 112.0
    assert x.nonzero().numel() == 8


def test_a_tensor_made_from_values_that_host_code_read_does_not_depend(world: World) -> None:
    x = world.kernel(torch.zeros(8))
    assert not world.depends(torch.tensor(x.tolist()))
    assert not world.depends(torch.from_numpy(x.numpy().copy()))


def test_an_index_of_a_kernel_stays_valid_and_the_result_depends_on_it(world: World) -> None:
    at = world.kernel(torch.full((4,), 10**6), torch.tensor([3, 0, 2, 1]))
    table = torch.arange(4.0) * 2
    for result in (table[at], table.gather(0, at), table.index_select(0, at), table.take(at)):
        assert world.depends(result)
        assert sorted(world.shadows.view(result).tolist()) == [0.0, 2.0, 4.0, 6.0]


def test_a_shape_that_depends_on_values_is_that_of_the_kernels(world: World) -> None:
    x = world.kernel(torch.zeros(8), torch.tensor([1.0, 0, 0, 2, 0, 0, 0, 3]))
    found = x.nonzero()
    assert found.flatten().tolist() == [0, 3, 7]
    assert not world.depends(found)
    assert x[x > 0].tolist() == [1.0, 2.0, 3.0]


def test_random_numbers_are_drawn_once_and_depend_on_no_kernel(world: World) -> None:
    x = world.kernel(torch.full((64,), 0.5), 0.25)
    torch.manual_seed(5)
    first = torch.bernoulli(x)
    torch.manual_seed(5)
    with _disable_current_modes():
        assert torch.equal(first, torch.bernoulli(x))
    assert not world.depends(first)
    assert not world.depends(x.uniform_())


REFUSING: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor, float]] = {
    "bincount of a negative number": (torch.bincount, torch.tensor([3, 0, 2, 2]), -5),
    "svdvals of NaN": (torch.linalg.svdvals, torch.arange(6.0).reshape(3, 2), torch.nan),
    "cholesky of no definite matrix": (torch.linalg.cholesky, torch.eye(2) + 1, 0),
    "inverse of no regular matrix": (torch.linalg.inv, torch.eye(2) + 1, 0),
}


@pytest.mark.parametrize("name", REFUSING)
def test_an_operation_that_refuses_a_shadow_is_repeated_on_other_values(
    world: World, name: str
) -> None:
    act, right, before = REFUSING[name]
    made = world.kernel(torch.full_like(right, before), right)
    assert world.depends(act(made))


@pytest.mark.parametrize("name", REFUSING)
def test_it_does_not_depend_if_no_kernel_has_changed_the_operand(world: World, name: str) -> None:
    act, right, _ = REFUSING[name]
    made = world.kernel(right.clone(), right)
    assert not world.depends(act(made))


def test_an_operation_that_refuses_all_values_is_not_repeated(world: World) -> None:
    assert world.depends(matrix := world.kernel(torch.tensor(0.0), 1.0))
    assert torch.equal(
        torch.linalg.cholesky(matrix * torch.eye(2) + torch.eye(2)), torch.eye(2) * 2**0.5
    )


def test_a_kernel_may_write_through_a_pointer_that_host_code_has_read(world: World) -> None:
    x = torch.zeros(8)
    place = x.data_ptr() + 4
    table = torch.tensor([0, place, 3])
    world.kernel(x, given=(table,), find=lambda given: _at(int(given[0][1]), 7))
    assert world.depends(x[1:]) and not world.depends(x[:1])
    assert table.tolist() == [0, place, 3]
    world.kernel(x, 5.0, given=(place, 2), find=lambda given: _at(given[0], 7))
    assert x.tolist() == [0.0] + [5.0] * 7


def _at(address: int, count: int) -> torch.Tensor:
    return torch.frombuffer((ctypes.c_float * count).from_address(address), dtype=torch.float32)


@pytest.mark.parametrize("exposed", [False, True])
def test_what_is_written_while_a_kernel_runs_is_not_the_kernels(
    world: World, exposed: bool
) -> None:
    """Such a write changes nothing if the kernel got the memory."""
    x, right = torch.zeros(8), torch.arange(1.0, 9.0)
    if exposed:
        x.data_ptr()
    beside = torch.from_dlpack(x)

    def write() -> None:
        beside.copy_(right)

    world.kernel(x, 0.0, meanwhile=write)
    assert x.tolist() == [0.0] * 8
    write()
    assert torch.equal(x, right) and not world.depends(x)
    world.kernel(x, 2.0, meanwhile=write)
    assert x.tolist() == [2.0] * 8 and world.depends(x)


def test_a_tensor_behind_a_descriptor_is_an_argument(world: World) -> None:
    class Descriptor:
        def __init__(self, base: torch.Tensor) -> None:
            self.base = base

    x = torch.zeros(8)
    world.kernel(x, given=[{"at": (Descriptor(x),)}], find=lambda given: given[0]["at"][0].base)
    assert world.depends(x)


def test_what_torch_wrote_to_a_kernels_memory_is_seen_once(world: World) -> None:
    x = world.kernel(torch.zeros(8), 1.0)
    x.add_(1)
    assert world.depends(x)
    assert world.shadows.view(x).tolist() == [1.0] * 8
    x.uniform_()
    assert not world.depends(x)


def test_values_that_a_gpu_would_check_stay_valid(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong value would end the CUDA context. On the CPU, torch raises an exception."""
    share = world.kernel(torch.full((8,), torch.nan), 0.25)
    assert world.depends(torch.nn.functional.binary_cross_entropy(share, share.clone()))
    at = world.kernel(torch.full((8,), -(1 << 40), dtype=torch.int64), torch.arange(8))
    world.depends(torch.nn.functional.nll_loss(torch.zeros(8, 8), at))
    world.depends(torch.nn.functional.embedding(at, torch.zeros(8, 2)))
    repeated: list[str] = []
    monkeypatch.setattr(
        "harness.candidate.shadows._Operations._repeat",
        lambda _, func, *__: repeated.append(func._schema.name),
    )
    torch._assert_async(share[0] == 0.25)
    assert "aten::_assert_async" not in repeated and "aten::eq" in repeated


def test_a_captured_launch_needs_a_shadow_from_before_or_new_memory(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each replay of a CUDA graph repeats what the shadows do. So a copy of older memory would get
    the result of the replay before it."""
    warm, cold = world.kernel(torch.zeros(8), 1.0), torch.zeros(8)
    monkeypatch.setattr("harness.candidate.shadows.is_captured", lambda _: True)
    new = torch.empty(8)
    changed = cold.add_(1)
    for tensor in (warm, cold, new):
        world.kernel(tensor, 2.0)
    assert world.depends(warm) and world.depends(new)
    assert not world.depends(cold) and not world.depends(changed)


def test_shadows_of_freed_storages_are_forgotten(world: World) -> None:
    for _ in range(100):
        world.kernel(torch.zeros(8)) + 1
    assert len(world.shadows._shadows) < 5


def test_a_resized_storage_keeps_its_shadow(world: World) -> None:
    x = world.kernel(torch.zeros(4), 1.0)
    x.resize_(8)
    x[4:] = 5.0
    world.kernel(x, 2.0)
    assert world.shadows.view(x).tolist() == [0.0] * 4 + [5.0] * 4
    assert world.depends(x)


@pytest.mark.parametrize("elements", [1 << 20, MAPPED_BYTES // 4])
def test_memory_that_torch_gives_out_again_has_no_earlier_result(
    world: World, elements: int
) -> None:
    """A submission may run its kernel several times, and torch gives it the same memory each time."""
    for _ in range(3):
        x = None
        x = world.kernel(torch.empty(elements), 7.0)
        assert world.depends(x)


def test_large_weights_that_a_constructor_makes_take_no_memory(world: World) -> None:
    """The weights of a case replace them. Before, a model with weights of 4 GiB had more memory in
    the run without kernels than a submission may have."""

    def resident_kib() -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1])

    before = resident_kib()
    weights = torch.empty(1 << 30)
    assert weights.nbytes == 4 << 30
    assert resident_kib() - before < 64 << 10


def test_attention_without_dropout_depends_on_its_operands(world: World) -> None:
    x = world.kernel(torch.zeros(1, 1, 4, 8), torch.arange(32.0).reshape(1, 1, 4, 8))
    attend = torch.nn.functional.scaled_dot_product_attention
    assert world.depends(attend(x, x, x))


@pytest.mark.parametrize("changed", [False, True])
def test_an_index_that_no_kernel_changed_decides_nothing(world: World, changed: bool) -> None:
    index = torch.arange(8)
    world.kernel(index, index.flip(0) if changed else index.clone())
    assert world.depends((torch.ones(8).cumsum(0))[index]) == changed


def test_an_index_decides_only_where_a_kernel_changed_it(world: World) -> None:
    """Otherwise, one index that a kernel restores would make all elements the kernel's."""
    index = torch.arange(8)
    index[3] = -1
    world.kernel(index, torch.arange(8))
    found = torch.arange(8.0)[index]
    assert found.tolist() == list(range(8))
    assert (world.shadows.view(found) != found).tolist() == [place == 3 for place in range(8)]


@pytest.fixture
def library() -> Iterator[torch.library.Library]:
    made = torch.library.Library("shadows_test", "FRAGMENT")
    yield made
    made._destroy()


def test_what_torch_does_inside_an_operation_of_its_own_is_seen(
    world: World, library: torch.library.Library
) -> None:
    launched: list[torch.Tensor] = []

    def kernel_and_torch(x: torch.Tensor) -> torch.Tensor:
        launched.append(z := torch.empty_like(x))
        world.kernel(z, x)
        z.mul_(1.0001)
        return z * 2

    def double_into(z: torch.Tensor, x: torch.Tensor) -> None:
        torch.mul(x, 2, out=z)

    library.define("kernel_and_torch(Tensor x) -> Tensor")
    library.impl("kernel_and_torch", kernel_and_torch, "CompositeExplicitAutograd")
    library.define("double_into(Tensor(a!) z, Tensor x) -> ()")
    library.impl("double_into", double_into, "CPU")
    x = torch.arange(1.0, 9.0)
    result = torch.ops.shadows_test.kernel_and_torch(x)
    assert torch.allclose(result, x * 2.0002) and len(launched) == 1
    assert bool((world.shadows.view(result) != result).all())
    assert not world.depends(world.kernel(torch.empty(8)).copy_(x))
    target = world.kernel(torch.empty(8))
    torch.ops.shadows_test.double_into(target, x)
    assert torch.equal(target, x * 2) and not world.depends(target)
    torch.ops.shadows_test.double_into(target, launched[0])
    assert world.depends(target)
