"""Tests which operations pass on an origin (origin_modes.py): composite ones, those on numbers of the
host, and memory that is written around the modes."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils._pytree as pytree
from origin_world import Given, N, into, unseen

# Each makes an operand of a kernel without a computation.
COMPOSITES: dict[str, Callable[[Given], torch.Tensor]] = {
    "a conversion": lambda given: given.y.to(torch.float64).to(torch.float32),
    "a conversion to a type": lambda given: given.y.type_as(given.x.double()).float(),
    "a transposed copy": lambda given: given.y.view(8, 8).t().contiguous().view(-1),
    "a changed form": lambda given: given.y.view(8, 8).t().reshape(-1),
    "a flat form": lambda given: given.y.view(8, 8).t().flatten(),
    "padding": lambda given: torch.nn.functional.pad(given.y[1:], (1, 0)),
    "parts": lambda given: torch.hstack(given.y.chunk(2)),
    "a result of a kernel": lambda given: (
        given.kernel(torch.empty(N), given.x).to(torch.float64).contiguous().float()
    ),
}


@pytest.mark.parametrize("inference", [False, True])
@pytest.mark.parametrize("name", COMPOSITES)
def test_a_composite_operation_passes_on_what_its_parts_do(
    given: Given, name: str, inference: bool
) -> None:
    with torch.inference_mode(inference):
        made = COMPOSITES[name](given)
        assert not given.of_torch(made)
        out = given.kernel(torch.empty(N), made)
    assert not given.of_torch(out)
    with torch.inference_mode(inference):
        assert given.of_torch(torch.nn.functional.linear(given.x, given.y.expand(N, N)))
        total = (given.x + given.y).view(8, 8)
        assert given.of_torch(total.t().contiguous()) and given.of_torch(total.t().reshape(-1))


def _by_foreach(given: Given) -> torch.Tensor:
    made = torch.empty(N)
    torch._foreach_copy_([made], [given.x])
    return made


def _resized(given: Given) -> torch.Tensor:
    return given.kernel(torch.empty(0).resize_(N), given.x)


HONEST: dict[str, Callable[[Given], torch.Tensor]] = {
    "a product with a number of the host": lambda given: given.x * torch.tensor(0.5),
    "a product of a number of the host": lambda given: torch.tensor(0.5) * given.x,
    "a quotient by a number of the host": lambda given: given.x.clone().div_(torch.tensor(2.0)),
    "copies in a list": _by_foreach,
    "empty memory that grew": _resized,
    "numbers by name": lambda given: torch.tensor(data=[0.5] * N),
    "numbers in tuples": lambda given: torch.tensor(((0.5,) * 8,) * 8),
    "a table of numpy": lambda given: torch.tensor(np.ones(N)),
    "an input behind numpy": lambda given: torch.from_numpy(given.x.numpy()),
    "a result behind another tensor": lambda given: torch.from_dlpack(
        given.kernel(torch.empty(N), given.x)
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_what_computes_nothing_is_not_torchs(given: Given, name: str) -> None:
    assert not given.of_torch(HONEST[name](given))


def _grown(given: Given) -> torch.Tensor:
    memory = given.x + given.y
    return memory.resize_(2 * N)


def _partly_filled(given: Given, memory: torch.Tensor) -> torch.Tensor:
    memory.numpy()[1:] = unseen(given).numpy()[1:]
    memory[0] = 2.0
    return memory


COMPUTED: dict[str, Callable[[Given], torch.Tensor]] = {
    "a number divided by data": lambda given: torch.tensor(2.0) / given.x,
    "a product with a sum": lambda given: given.x * given.y.sum(),
    "a product with one element of data": lambda given: given.x * given.y[0],
    "copies of sums in a list": lambda given: _copied_by_foreach(given.x + given.y),
    "memory of torch that grew": _grown,
    "a sum behind numpy": lambda given: torch.from_numpy((given.x + given.y).numpy()),
    "a part of a sum behind numpy": lambda given: torch.from_numpy(
        (given.x + given.y).numpy()[2:9]
    ),
    "a sum behind numpy as a tensor": lambda given: torch.as_tensor((given.x + given.y).numpy()),
    "a copy of a sum behind numpy": lambda given: torch.tensor((given.x + given.y).numpy()),
    "a part filled after an unseen write": lambda given: _partly_filled(given, torch.zeros(N)),
}


def _copied_by_foreach(source: torch.Tensor) -> torch.Tensor:
    made = torch.empty(N)
    torch._foreach_copy_([made], [source])
    return made


@pytest.mark.parametrize("name", COMPUTED)
def test_what_computes_is_torchs(given: Given, name: str) -> None:
    assert given.of_torch(COMPUTED[name](given))


def test_empty_memory_that_grew_shows_nothing_old(given: Given) -> None:
    assert not bool((torch.empty(0).resize_(N) == given.x + given.y).all())


class Replaced:
    """An operation that the submission has replaced."""

    def __init__(self, name: str, act: Callable[..., Any]) -> None:
        self._library = torch.library.Library("aten", "IMPL")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._library.impl(name, act, "CPU")

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        self._library._destroy()


def test_numbers_are_torchs_if_the_submission_has_replaced_what_makes_them(given: Given) -> None:
    total = unseen(given)
    with Replaced("lift_fresh", lambda made: total if made.shape == total.shape else made):
        made = torch.tensor([0.0] * N)
    assert torch.equal(made, total) and given.of_torch(made)


def test_a_copy_is_torchs_if_the_submission_has_replaced_its_part(given: Given) -> None:
    total = unseen(given).numpy()

    def copy(target: torch.Tensor, source: torch.Tensor, blocks: bool = False) -> torch.Tensor:
        target.numpy()[:] = total
        return target

    with Replaced("copy_", copy):
        made = given.x.clone()
    assert given.of_torch(made)


def test_a_view_is_torchs_if_the_submission_has_replaced_it(given: Given) -> None:
    total = unseen(given)
    with Replaced("unsqueeze", lambda one, dim: total):
        made = given.x.unsqueeze(0)
    assert torch.equal(made, total) and given.of_torch(made)


class Listed(list[Any]):
    """A list that has no leaves, if one asks pytree."""


def test_a_list_of_another_class_is_no_list_of_numbers(given: Given) -> None:
    pytree.register_pytree_node(Listed, lambda _: ([], None), lambda *_: Listed())
    try:
        made = torch.tensor(Listed(unseen(given)))
    finally:
        pytree._deregister_pytree_node(Listed)
    assert given.of_torch(made)


def test_a_write_that_ends_before_an_operation_is_seen(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another stream may still write to memory of which an operation then writes a part. A function
    of the test acts as the wait for it."""
    made, pending = torch.zeros(N), [into]
    real = torch.clone(made)
    monkeypatch.setattr(
        "harness.candidate.origins.settle",
        lambda *_: pending.pop()(given, made) if pending else None,
    )
    made.zero_()
    assert not pending and torch.equal(made, real) and not given.of_torch(made)


@pytest.mark.parametrize(
    "act",
    [
        lambda made, given: made.zero_(),
        lambda made, given: made.copy_(given.x),
        lambda made, given: made.mul_(2),
        lambda made, given: made[:9].fill_(3.0),
    ],
    ids=["zero_", "copy_", "mul_", "fill_ of a part"],
)
def test_a_write_between_an_operation_and_the_look_at_its_result_is_seen(
    given: Given, monkeypatch: pytest.MonkeyPatch, act: Callable[[torch.Tensor, Given], Any]
) -> None:
    made, real = torch.ones(N), given.origins.note
    act(made, given)
    assert not given.of_torch(made)
    monkeypatch.setattr(given.origins, "note", lambda *a, **k: (into(given, made), real(*a, **k)))
    act(made, given)
    monkeypatch.undo()
    assert torch.equal(made, unseen(given)) and given.of_torch(made)


def test_a_write_to_an_operand_while_an_operation_reads_it_is_seen(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = torch.ones(N)
    monkeypatch.setattr(given.origins, "note", _then(given.origins.note, given, source))
    made = source.clone()
    monkeypatch.undo()
    assert given.of_torch(made) and given.of_torch(source)


def _then(note: Callable[..., Any], given: Given, source: torch.Tensor) -> Callable[..., Any]:
    def noted(*args: Any, **kwargs: Any) -> None:
        note(*args, **kwargs)
        into(given, source)

    return noted


def test_launches_of_two_threads_wait_for_each_other(given: Given) -> None:
    out, inside, wrong = torch.zeros(N), threading.Lock(), []

    def add() -> None:
        with given.origins.launch((out, given.x)):
            if not inside.acquire(blocking=False):
                wrong.append("two launches at once")
                return
            inside.release()

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and not given.of_torch(out)
