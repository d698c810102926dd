"""Tests which tensors depend on what torch has computed from inputs, also through operations that the
submission has replaced (torch_kernels.py). A function of the test acts as the kernels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from harness.triton_adapter.launches import Address
from origin_world import Given, N, into, unseen
from torch.utils._python_dispatch import _disable_current_modes


def indices(given: Given) -> torch.Tensor:
    return given.kernel(torch.zeros(N, dtype=torch.int64))


# Each yields what a kernel then adds to an input.
HONEST: dict[str, Callable[[Given], torch.Tensor]] = {
    "an input": lambda given: given.y,
    "a copy": lambda given: given.y.clone(),
    "a transposed copy": lambda given: given.y.view(8, 8).t().contiguous().view(-1),
    "a conversion": lambda given: given.y.double().float(),
    "padding": lambda given: torch.nn.functional.pad(given.y[1:], (1, 0)),
    "joined parts": lambda given: torch.cat([given.y[:9], given.y[9:]]),
    "a repetition": lambda given: given.y[:8].repeat(8),
    "a stack": lambda given: torch.stack([given.y, given.x])[0],
    "a product with a number": lambda given: given.y * 2.5,
    "a quotient in place": lambda given: given.y.clone().div_(3),
    "a filled part": lambda given: _with(given.y.clone(), slice(3), 7.0),
    "a result of a kernel": lambda given: given.kernel(torch.empty(N), given.x),
    "a selection by a kernel": lambda given: given.y[indices(given)],
    "a scattering by a kernel": lambda given: torch.empty(N).scatter_(0, indices(given), given.y),
    "numbers": lambda given: torch.tensor([0.5] * N),
    "numbers like another tensor": lambda given: given.x.new_tensor([0.5] * N),
    "a number of one element": lambda given: _with(torch.zeros(N), 3, 0.25),
    "the negative": lambda given: -given.y,
    "random numbers": lambda given: torch.rand_like(given.x),
    "a computed table": lambda given: torch.cos(torch.arange(N) * 0.1),
    "a table of structural values": lambda given: (given.lengths.cumsum(0) * 1.0).float(),
    "numpy's table": lambda given: torch.from_numpy(torch.ones(N).numpy().copy()),
    "overwritten memory": lambda given: (given.y + 1).copy_(given.x),
    "cleared memory": lambda given: (given.y + 1).zero_(),
}


def _with(tensor: torch.Tensor, place: Any, value: Any) -> torch.Tensor:
    tensor[place] = value
    return tensor


@pytest.mark.parametrize("name", HONEST)
def test_what_torch_only_moves_or_scales_is_not_torchs(given: Given, name: str) -> None:
    out = given.kernel(torch.empty(N), given.x, HONEST[name](given))
    assert not given.of_torch(out)
    assert not given.of_torch((out * 0.5).view(8, 8).t().contiguous())


def _behind(given: Given) -> torch.Tensor:
    memory = torch.zeros(N)
    torch.add(given.x, given.y, out=torch.from_dlpack(memory))
    return memory


class Adding(torch.Tensor):
    """A class whose operations return a sum that is known before."""

    total: torch.Tensor

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with _disable_current_modes():
            return cls.total.clone()


def _of_another_class(given: Given) -> torch.Tensor:
    Adding.total = unseen(given)
    return torch.Tensor._make_subclass(Adding, given.x) * 1


COMPUTED: dict[str, Callable[[Given], torch.Tensor]] = {
    "a sum": lambda given: given.x + given.y,
    "a sum in place": lambda given: given.x.clone().add_(given.y),
    "a sum into given memory": lambda given: torch.add(given.x, given.y, out=torch.empty(N)),
    "a sum in a list": lambda given: torch._foreach_add([given.x], [given.y])[0],
    "a reduction": lambda given: torch.stack([given.x, given.y]).sum(0),
    "a mask": lambda given: given.x > given.y,
    "a sum with a number": lambda given: given.x + 1,
    "a rounded quotient": lambda given: torch.div(given.x, 3, rounding_mode="floor"),
    "a product with itself": lambda given: given.x.clone().mul_(given.x),
    "a sparse tensor": lambda given: given.x.to_sparse().to_dense(),
    "an operation of another class": _of_another_class,
    "a list as a tensor": lambda given: torch.tensor((given.x + given.y).clone()),
    "an order": lambda given: given.x.sort().values,
    "a selection by an input": lambda given: given.y[given.y.long()],
    "a selection by torch": lambda given: given.y[given.x.argsort()],
    "a part of memory": lambda given: _with(torch.zeros(N), slice(3), given.x[:3] + 1),
    "memory of which a part is cleared": lambda given: _with(given.x + 1, slice(3), 0.0),
    "dropout": lambda given: torch.nn.functional.dropout(given.x),
    "memory without modes": unseen,
    "memory of a thread": lambda given: into(given, torch.empty(N)),
    "an input after a thread": lambda given: into(given, given.x),
    "a kernel's memory after a thread": lambda given: into(
        given, given.kernel(torch.empty(N), given.x)
    ),
    "memory behind another tensor": _behind,
}


@pytest.mark.parametrize("name", COMPUTED)
def test_what_torch_has_computed_from_data_stays_torchs(given: Given, name: str) -> None:
    made = COMPUTED[name](given)
    assert given.of_torch(made)
    out = given.kernel(torch.empty(N), made.float())
    assert given.of_torch(out)
    assert given.of_torch(given.kernel(torch.empty(N), out))
    assert given.of_torch(out.double().view(8, 8).t().contiguous())


@pytest.mark.parametrize("host", [False, True])
def test_an_operation_that_the_submission_has_replaced_computes(given: Given, host: bool) -> None:
    library = torch.library.Library("aten", "IMPL")
    operand = torch.ones(N) if host else given.x
    try:
        assert not given.of_torch(-operand)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            library.impl("neg", lambda _: given.x.add(given.y), "CPU")
        assert given.of_torch(-operand) and not given.of_torch(operand / 2)
    finally:
        library._destroy()
    assert not given.of_torch(-operand)


def test_memory_that_an_object_shows_has_no_known_origin(given: Given) -> None:
    made = torch.asarray(torch.utils.dlpack.to_dlpack(unseen(given)))
    # The memory is that of the host here. On a GPU it would be unknown.
    assert made.untyped_storage()._cdata not in given.origins._known
    assert torch.equal(made, given.x + given.y)


def test_a_kernel_gets_what_was_looked_at(given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread may write between the look at the memory and the launch."""
    memory, real = torch.zeros(N), given.origins.origin
    monkeypatch.setattr(given.origins, "origin", lambda *of: (real(*of), into(given, memory))[0])
    out = given.kernel(torch.empty(N), memory)
    assert not bool(out.any())
    monkeypatch.undo()
    assert not given.of_torch(out) and given.of_torch(memory)


def test_only_what_a_launch_changes_gets_its_origin(given: Given) -> None:
    made, scratch = given.x + given.y, torch.empty(N)
    given.kernel(scratch, made, given.x)
    assert given.of_torch(scratch) and not given.of_torch(given.x)
    assert not given.of_torch(given.kernel(torch.empty(N), given.x))


def test_a_table_of_pointers_passes_on_an_origin(given: Given) -> None:
    made, out = given.x + given.y, torch.empty(N)
    assert made.data_ptr()
    assert given.of_torch(given.kernel(out, given.x))


def test_an_address_of_unknown_memory_passes_on_torchs_origin(given: Given) -> None:
    hidden = unseen(given)
    with torch._C.DisableTorchFunction():
        unknown, known = hidden.data_ptr(), given.x.data_ptr() + 4
    for address, of_torch in ((known, False), (unknown, True)):
        out = torch.empty(N)
        with given.origins.launch((out, given.x, Address(address))) as arguments:
            with _disable_current_modes():
                arguments[0].copy_(given.x)
        assert given.of_torch(out) == of_torch
    out = torch.empty(N)
    with given.origins.launch((out, Own(hidden))) as (target, _), _disable_current_modes():
        target.copy_(hidden)
    assert given.of_torch(out)


class Own:
    dtype = torch.float32

    def __init__(self, tensor: torch.Tensor) -> None:
        self._tensor = tensor

    def data_ptr(self) -> int:
        return self._tensor.data_ptr()


def test_looking_at_a_result_changes_nothing(given: Given) -> None:
    out = given.kernel(torch.empty(N), given.x, given.y)
    assert torch.equal(out, given.x + given.y) and float((out - given.x).sum()) == N
    assert not given.of_torch(out)
    assert not given.of_torch(given.kernel(torch.empty(N), out))


def test_an_operation_of_the_submission_is_seen_inside(given: Given) -> None:
    library = torch.library.Library("origins_test", "FRAGMENT")
    try:
        library.define("add(Tensor x, Tensor y) -> Tensor")
        library.impl("add", lambda x, y: x + y, "CPU")
        library.define("copy(Tensor x) -> Tensor")
        library.impl("copy", lambda x: x.clone(), "CPU")
        assert given.of_torch(torch.ops.origins_test.add(given.x, given.y))
        assert not given.of_torch(torch.ops.origins_test.copy(given.x))
    finally:
        library._destroy()


def test_freed_storages_are_forgotten(given: Given) -> None:
    for _ in range(50):
        given.kernel(torch.empty(N), given.x)
    assert len(given.origins._known) < 20
